node_name = "of-a-file"
