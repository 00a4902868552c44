"""Tables of log entries as Parquet and Avro: how BigQuery exports the rows of a sink or of Log Analytics."""
