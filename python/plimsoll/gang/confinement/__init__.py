"""What the gang puts in front of the path of Ray's processes; Python imports its `sitecustomize` by itself."""
