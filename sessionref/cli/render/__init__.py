"""What commands have computed, as text, JSON, CSV, pictures: rendering, and nothing else."""
