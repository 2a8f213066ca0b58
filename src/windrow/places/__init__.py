"""Where files lie: paths and URIs, and how what is kept there is read, written whole, listed, moved and deleted.

addresses      Addresses of files and folders: a path of this machine, or a URI as Spark writes it
hdfs_home      Files in HDFS, by its HTTP interface (WebHDFS): written beside, and renamed over what is there in one
               step
home           What every kind of place can do: read, write whole, create once, list, move and delete
lease          A lease on a folder elsewhere: one holder at a time, by files that are created once and renewed
local_home     Files of this machine: written beside, synced to the disk, and renamed into place
object_home    Objects in buckets (S3, Google Cloud Storage, Azure): a put is whole, a move is a copy and a delete
outside_spark  What Spark's settings of file systems would be, for a command that starts no Spark
place          A file or folder, wherever it lies: a path, and the home that reaches it
reach          Whether a place can be had, found before anything starts: it is written to, once, and the error names it
remote_homes   Places elsewhere by their URIs, with the credentials that Spark's own `fs.*` settings give
"""
