"""The view model of the report page: stored runs in, plain numbers and names out."""
