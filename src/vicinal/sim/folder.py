"""Names of the files in the folder of results of a run."""

SCENE, REPORT, RESTART = "scene.toml", "run.json", "restart.npz"
PARTICLES, BODIES, CONTACTS, WALLS, SURFACES = (
    "particles.vtkhdf",
    "bodies.vtkhdf",
    "contacts.vtkhdf",
    "walls.vtkhdf",
    "surfaces.vtkhdf",
)
TABLE = "table.csv"
LOCK = "run.lock"
