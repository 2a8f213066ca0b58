-- A stock market: 100 symbols, and 24 questions that are answered again as time goes by, most of them every second.
-- All of them are answered from one scan of the ticks, in one Spark job a batch.

CREATE STREAM ticks (ts TIMESTAMP, symbol STRING, price DOUBLE, volume INT)
  USING parquet OPTIONS (path 'demo-out/ticks')
  TIMESTAMP BY ts LATENESS 1 SECOND;

-- which sector each stock belongs to
CREATE TABLE stocks (symbol STRING, sector STRING) USING parquet OPTIONS (path 'demo-out/stocks');

CREATE SINK vwap USING parquet OPTIONS (path 'demo-out/vwap');
CREATE SINK volatility USING parquet OPTIONS (path 'demo-out/volatility');
CREATE SINK candles USING parquet OPTIONS (path 'demo-out/candles');
CREATE SINK movers USING parquet OPTIONS (path 'demo-out/movers');
CREATE SINK turnover USING parquet OPTIONS (path 'demo-out/turnover');
CREATE SINK spreads USING parquet OPTIONS (path 'demo-out/spreads');
CREATE SINK blocks USING parquet OPTIONS (path 'demo-out/blocks');
CREATE SINK trends USING parquet OPTIONS (path 'demo-out/trends');
CREATE SINK medians USING parquet OPTIONS (path 'demo-out/medians');
CREATE SINK smooth USING parquet OPTIONS (path 'demo-out/smooth');
CREATE SINK market USING parquet OPTIONS (path 'demo-out/market');
CREATE SINK pulse USING parquet OPTIONS (path 'demo-out/pulse');
CREATE SINK today USING parquet OPTIONS (path 'demo-out/today');
CREATE SINK sectors USING parquet OPTIONS (path 'demo-out/sectors');
CREATE SINK levels USING parquet OPTIONS (path 'demo-out/levels');
CREATE SINK surges USING parquet OPTIONS (path 'demo-out/surges');
CREATE SINK averages USING parquet OPTIONS (path 'demo-out/averages');
CREATE SINK tape USING parquet OPTIONS (path 'demo-out/tape');
CREATE SINK bursts USING parquet OPTIONS (path 'demo-out/bursts');
CREATE SINK peaks USING parquet OPTIONS (path 'demo-out/peaks');
CREATE SINK turns USING parquet OPTIONS (path 'demo-out/turns');
CREATE SINK alerts USING parquet OPTIONS (path 'demo-out/alerts');

-- 1: the volume-weighted average price of each stock
INSERT INTO vwap
SELECT symbol, SUM(price * volume) / SUM(volume) AS vwap, SUM(volume) AS volume
FROM ticks [RANGE 1 MINUTE SLIDE 1 SECOND]
GROUP BY symbol;

-- 2: how far each price swings
INSERT INTO volatility
SELECT symbol, STDDEV(price) AS stddev, MIN(price) AS low, MAX(price) AS high
FROM ticks [RANGE 5 MINUTES SLIDE 1 SECOND]
GROUP BY symbol;

-- 3: the candle of each minute, while it grows
INSERT INTO candles
SELECT symbol, FIRST(price) AS open, MAX(price) AS high, MIN(price) AS low, LAST(price) AS close
FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE EMIT EVERY 1 SECOND]
GROUP BY symbol;

-- 4 and 5: the five stocks that moved most, up or down, in two windows
INSERT INTO movers
SELECT symbol, 100 * (LAST(price) / FIRST(price) - 1) AS percent, '1 min' AS within
FROM ticks [RANGE 1 MINUTE SLIDE 1 SECOND]
GROUP BY symbol
ORDER BY ABS(percent) DESC LIMIT 5;

INSERT INTO movers AS movers_5_min
SELECT symbol, 100 * (LAST(price) / FIRST(price) - 1) AS percent, '5 min' AS within
FROM ticks [RANGE 5 MINUTES SLIDE 1 SECOND]
GROUP BY symbol
ORDER BY ABS(percent) DESC LIMIT 5;

-- 6 to 9: the first five of other rankings: the most money, the widest range of prices, the largest trade, the
-- steepest line
INSERT INTO turnover
SELECT symbol, SUM(price * volume) AS paid FROM ticks [RANGE 30 SECONDS SLIDE 1 SECOND]
GROUP BY symbol ORDER BY paid DESC LIMIT 5;

INSERT INTO spreads
SELECT symbol, 10000 * (MAX(price) - MIN(price)) / AVG(price) AS points FROM ticks [RANGE 10 SECONDS SLIDE 1 SECOND]
GROUP BY symbol ORDER BY points DESC LIMIT 5;

INSERT INTO blocks
SELECT symbol, MAX(volume) AS shares, MAX_BY(price, volume) AS price FROM ticks [RANGE 1 MINUTE SLIDE 1 SECOND]
GROUP BY symbol ORDER BY shares DESC LIMIT 5;

INSERT INTO trends
SELECT symbol, 6000 * REGR_SLOPE(price, ts) / AVG(price) AS percent_a_minute FROM ticks [RANGE 2 MINUTES SLIDE 1 SECOND]
GROUP BY symbol ORDER BY ABS(percent_a_minute) DESC LIMIT 5;

-- 10: the usual trade: half are smaller, and one in a hundred is larger
INSERT INTO medians
SELECT MEDIAN(volume) AS half, QUANTILE(volume, 0.99) AS most FROM ticks [RANGE 10 SECONDS SLIDE 1 SECOND];

-- 11: a price that forgets: what is 10 seconds old counts half
INSERT INTO smooth
SELECT symbol, EWMA(price, '10 seconds') AS price FROM ticks [RANGE 1 MINUTE SLIDE 1 SECOND]
GROUP BY symbol;

-- 12 to 14: the whole market, in a minute, in a second, and since midnight
INSERT INTO market
SELECT COUNT(*) AS trades, SUM(volume) AS volume, SUM(price * volume) AS turnover
FROM ticks [RANGE 1 MINUTE SLIDE 1 SECOND];

INSERT INTO pulse
SELECT COUNT(*) AS trades, COUNT(DISTINCT symbol) AS symbols FROM ticks [RANGE 1 SECOND SLIDE 1 SECOND];

INSERT INTO today
SELECT COUNT(*) AS trades, SUM(price * volume) AS turnover FROM ticks [RANGE 1 DAY SLIDE 1 SECOND CUMULATE];

-- 15 and 16: a join with a table: the money in each sector, in two windows
INSERT INTO sectors
SELECT sector, SUM(price * volume) AS paid, COUNT(*) AS trades
FROM ticks [RANGE 1 MINUTE SLIDE 1 SECOND] JOIN stocks ON ticks.symbol = stocks.symbol
GROUP BY sector;

INSERT INTO sectors AS sectors_10_s
SELECT sector, SUM(price * volume) AS paid, COUNT(*) AS trades
FROM ticks [RANGE 10 SECONDS SLIDE 10 SECONDS] JOIN stocks ON ticks.symbol = stocks.symbol
GROUP BY sector;

-- 17 and 18: levels: one query over several windows, and what the last ten seconds are of the last minutes
INSERT INTO levels
SELECT symbol, AVG(price) AS mean, COUNT(*) AS trades
FROM ticks [RANGES 5 MINUTES, 1 MINUTE, 10 SECONDS SLIDES 10 SECONDS, 5 SECONDS, 1 SECOND]
GROUP BY symbol;

INSERT INTO surges
SELECT symbol, 30 * SUM(volume) FILTER (WHERE level = 0) / SUM(volume) AS times
FROM ticks [RANGES 5 MINUTES, 10 SECONDS SLIDES 1 SECOND, 1 SECOND]
GROUP BY symbol HAVING level = 1 ORDER BY times DESC LIMIT 3;

-- 19 and 20: windows that count trades instead of seconds
INSERT INTO averages
SELECT symbol, AVG(price) AS mean FROM ticks [PARTITION BY symbol ROWS 200 SLIDE 100]
GROUP BY symbol;

INSERT INTO tape
SELECT AVG(price) AS mean, SUM(volume) AS volume FROM ticks [ROWS 10000 SLIDE 2500];

-- 21: sessions: large trades of a stock that come one after the other
INSERT INTO bursts
SELECT symbol, COUNT(*) AS trades, SUM(volume) AS shares
FROM (SELECT * FROM ticks WHERE volume > 2500) [PARTITION BY symbol SESSION 1 SECOND]
HAVING trades > 2;

-- 22: a window over the answers of another: the best second of each stock's last minute
INSERT INTO peaks
SELECT symbol, MAX(paid) AS paid
FROM (SELECT symbol, SUM(price * volume) AS paid FROM ticks [RANGE 1 SECOND SLIDE 1 SECOND] GROUP BY symbol) AS seconds
     [RANGE 1 MINUTE SLIDE 1 SECOND]
GROUP BY symbol;

-- 23: what changes: a stock that begins to rise or to fall, or ceases to
INSERT INTO turns
SELECT symbol, CASE WHEN LAST(price) > 1.01 * FIRST(price) THEN 'rises'
                    WHEN LAST(price) < 0.99 * FIRST(price) THEN 'falls' ELSE 'rests' END AS way
FROM ticks [RANGE 1 MINUTE SLIDE 1 SECOND]
GROUP BY symbol EMIT CHANGES;

-- 24: alerts, told once, when a condition begins to hold: large trades pile up
INSERT INTO alerts
SELECT symbol, COUNT(*) AS trades, SUM(volume) AS shares
FROM ticks [RANGE 10 SECONDS SLIDE 1 SECOND]
WHERE volume > 2500
GROUP BY symbol EMIT WHEN trades > 8;
