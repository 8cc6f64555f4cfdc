"""What the commands for experiments share: the options they have in common, the document a short command stands for, its carrying out."""
