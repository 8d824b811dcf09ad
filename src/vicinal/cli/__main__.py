"""``python -m vicinal.cli`` does what ``vicinal`` does."""

from vicinal.cli import main

main()
