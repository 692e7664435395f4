"""The data pipeline: the only room with Spark."""
