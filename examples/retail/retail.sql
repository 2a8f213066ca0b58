-- Retail transactions (Hammad et al., 2003): the schema of section 2.3 and the five queries of Table 1.

CREATE STREAM SalesStream_A (StoreID INT, ItemID INT, Price DOUBLE, Quantity INT, Timestamp TIMESTAMP)
  USING parquet OPTIONS (path 'SalesStream_A', maxFilesPerTrigger '6') TIMESTAMP BY Timestamp;
CREATE STREAM SalesStream_B (StoreID INT, ItemID INT, Price DOUBLE, Quantity INT, Timestamp TIMESTAMP)
  USING parquet OPTIONS (path 'SalesStream_B', maxFilesPerTrigger '6') TIMESTAMP BY Timestamp;
CREATE TABLE FavoriteItems (ItemID INT) USING parquet OPTIONS (path 'FavoriteItems');
CREATE TABLE FavoriteStores (StoreID INT) USING parquet OPTIONS (path 'FavoriteStores');

CREATE SINK q1 USING parquet OPTIONS (path 'answers/q1');
CREATE SINK q2 USING parquet OPTIONS (path 'answers/q2');
CREATE SINK q3 USING parquet OPTIONS (path 'answers/q3');
CREATE SINK q4 USING parquet OPTIONS (path 'answers/q4');
CREATE SINK q5 USING parquet OPTIONS (path 'answers/q5');

INSERT INTO q1
SELECT SUM(S.Price) AS total
FROM SalesStream_A S
WHERE S.ItemID > 7499
WINDOW 1 MINUTE;

INSERT INTO q2
SELECT DISTINCT SA.ItemID
FROM SalesStream_A SA, SalesStream_B SB
WHERE SA.ItemID = SB.ItemID AND SA.Price > 75
WINDOW 1 MINUTE;

INSERT INTO q3
SELECT COUNT(DISTINCT S.StoreID) AS stores
FROM SalesStream_A S, FavoriteItems F
WHERE S.ItemID = F.ItemID
WINDOW 1 MINUTE;

INSERT INTO q4
SELECT SS.ItemID, SUM(SS.Price) AS total
FROM FavoriteItems FI, SalesStream_A SS, FavoriteStores FS
WHERE FI.ItemID = SS.ItemID AND SS.StoreID = FS.StoreID
GROUP BY SS.ItemID
WINDOW 1 MINUTE;

INSERT INTO q5
SELECT S.ItemID, SUM(S.Price) AS total
FROM FavoriteItems F,
  (SELECT ItemID, Price FROM SalesStream_A MINUS SELECT ItemID, Price FROM SalesStream_B) AS S
WHERE F.ItemID = S.ItemID
GROUP BY S.ItemID
WINDOW 1 MINUTE;
