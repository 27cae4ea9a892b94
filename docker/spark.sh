#!/bin/sh
# Spark's standalone cluster from the Python package itself: `spark-standalone master|worker …`.
set -eu
home=$(python -c 'import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent)')
# Executors' folders stand beside the package otherwise, where only root may write.
export SPARK_HOME="$home" SPARK_NO_DAEMONIZE=1 SPARK_WORKER_DIR="${SPARK_WORKER_DIR:-$(mktemp -d)}"
role=$1
shift
case $role in
  master) class=org.apache.spark.deploy.master.Master ;;
  worker) class=org.apache.spark.deploy.worker.Worker ;;
  *) echo "master or worker, not $role" >&2; exit 2 ;;
esac
exec "$home/bin/spark-class" "$class" "$@"
