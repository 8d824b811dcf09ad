"""What every simulation needs: scene files, regions, packing, walls, output, restarts and pictures."""
