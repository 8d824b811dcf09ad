"""A small scene with all features: emitter, outlet, moving wall, friction, several sizes."""

from vicinal import sim


def busy(**changes):
    tables = {
        "title": "busy",
        "run": {"duration": 0.012, "threads": 1},
        "regions": {
            "tray": {"shape": "box", "low": [0, 0, 0], "high": [0.03, 0.03, 0.02]},
            "gate": {"shape": "box", "low": [0.005, 0.005, 0.03], "high": [0.025, 0.025, 0.04]},
            "sink": {"shape": "box", "low": [-0.01, -0.01, -0.01], "high": [0.008, 0.008, 0.008]},
        },
        "walls": [
            {"shape": "box", "name": "tray", "material": "glass", "low": [0, 0, 0], "high": [0.03, 0.03, 0.1]},
            {
                "shape": "cylinder",
                "name": "stirrer",
                "material": "glass",
                "start": [0.015, 0.015, 0],
                "end": [0.015, 0.015, 0.1],
                "radius": 0.001,
                "inside": False,
                "motion": {
                    "type": "rotating",
                    "axis": [0, 0, 1],
                    "point": [0.015, 0.02, 0],
                    "speed": 20,
                    "start": 0.003,
                },
            },
        ],
        "output": {"every": 0.004, "table_every": 0.001, "restart_every": 0.002},
        "dem": {
            "dt": 2e-5,
            "max_overlap": 2.0,  # the fill overlaps the stirrer
            "materials": {
                "glass": {
                    "density": 2500,
                    "youngs_modulus": 1e6,
                    "poisson_ratio": 0.25,
                    "restitution": 0.5,
                    "friction": 0.5,
                    "rolling_friction": 0.01,
                }
            },
            "bodies": {
                "bead": {"material": "glass", "radius": {"distribution": "uniform", "low": 0.002, "high": 0.003}}
            },
            "insert": [
                {"bodies": "bead", "region": "tray", "count": 60},
                {
                    "kind": "emitter",
                    "bodies": "bead",
                    "region": "gate",
                    "rate": 500,
                    "every": 0.002,
                    "velocity": [0, 0, -0.5],
                },
            ],
            "outlets": [{"region": "sink", "every": 0.003}],
        },
    }
    for name, value in changes.items():
        tables[name] = tables[name] | value if isinstance(value, dict) and name in tables else value
    return sim.Scene(**tables)
