# SPDX-License-Identifier: MIT
"""Checks a list with Spark, and writes the results as Parquet: a row for each checkpoint.

    spark-submit fleet_spark.py paths.txt results.parquet

The workers see the same files under the same paths, and have the command. Each partition is a list of its own.
"""
import os
import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, get_json_object

PATHS_IN_A_PARTITION = 1000

spark = SparkSession.builder.appName("shapeproof").getOrCreate()
context = spark.sparkContext
with open(sys.argv[1], encoding="utf-8") as file:
    paths = [line for line in file.read().split("\n") if line and not line.startswith("#")]
partitions = context.parallelize(paths, -(-len(paths) // PATHS_IN_A_PARTITION))
# --jobs 1: Spark runs one task per processor. The exit status is ignored, because each line has its own.
# pipe() starts the command with an empty environment, so PATH has to be passed.
lines = partitions.pipe("shapeproof check --list - --jobs 1", env={"PATH": os.environ["PATH"]}, checkCode=False)
report = lines.map(lambda line: (line,)).toDF("report string")
fields = ["path", "status", "verdict", "table", "summary", "error", "kind"]
rows = report.select(*[get_json_object("report", "$." + name).alias(name) for name in fields], "report")
rows.withColumn("status", col("status").cast("int")).write.mode("overwrite").parquet(sys.argv[2])
checked = spark.read.parquet(sys.argv[2])
checked.groupBy("verdict", "status").count().orderBy("status", "verdict").show()
# If a process was killed, some paths have no line: then the job has failed.
sys.exit(0 if checked.select("path").distinct().count() == len(set(paths)) else 1)
