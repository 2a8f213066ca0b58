-- The call center of the SlideM paper (Appendix A): 144 KPIs over the last 24 hours, answered again every 10 seconds.

CREATE STREAM calls (
  timestamp BIGINT, instance INT, start BIGINT, sessionId INT, serviceId INT, agentId INT, interactionLegId INT,
  alertingTime INT, busyTime INT, wrapUpTime INT, waitTime INT, direction INT, mediaId INT, helpTime INT,
  agentReleased BOOLEAN, mediaOutcome INT, finalSegment BOOLEAN, agentSite INT, callSite INT, availableTime INT,
  availableTimeByService INT, held INT, help INT)
  USING parquet OPTIONS (path 'calls', maxFilesPerTrigger '2')
  TIMESTAMP BY timestamp_millis(timestamp) LATENESS 1 SECOND;

CREATE SINK by_instance USING parquet OPTIONS (path 'kpis/by_instance');
CREATE SINK by_service USING parquet OPTIONS (path 'kpis/by_service');
CREATE SINK by_agent USING parquet OPTIONS (path 'kpis/by_agent');
CREATE SINK by_media USING parquet OPTIONS (path 'kpis/by_media');
CREATE SINK by_leg USING parquet OPTIONS (path 'kpis/by_leg');
CREATE SINK by_agent_site USING parquet OPTIONS (path 'kpis/by_agent_site');
CREATE SINK by_call_site USING parquet OPTIONS (path 'kpis/by_call_site');
CREATE SINK by_direction USING parquet OPTIONS (path 'kpis/by_direction');

INSERT INTO by_instance
SELECT instance,
  SUM(alertingTime) AS sum_alertingTime, COUNT(alertingTime) AS count_alertingTime,
  AVG(alertingTime) AS avg_alertingTime,
  SUM(busyTime) AS sum_busyTime, COUNT(busyTime) AS count_busyTime, AVG(busyTime) AS avg_busyTime,
  SUM(wrapUpTime) AS sum_wrapUpTime, COUNT(wrapUpTime) AS count_wrapUpTime, AVG(wrapUpTime) AS avg_wrapUpTime,
  SUM(waitTime) AS sum_waitTime, COUNT(waitTime) AS count_waitTime, AVG(waitTime) AS avg_waitTime,
  SUM(helpTime) AS sum_helpTime, COUNT(helpTime) AS count_helpTime, AVG(helpTime) AS avg_helpTime,
  SUM(availableTime) AS sum_availableTime,
  COUNT(availableTime) AS count_availableTime, AVG(availableTime) AS avg_availableTime
FROM calls [RANGE 24 HOURS SLIDE 10 SECONDS]
GROUP BY instance;

INSERT INTO by_service
SELECT serviceId,
  SUM(alertingTime) AS sum_alertingTime, COUNT(alertingTime) AS count_alertingTime,
  AVG(alertingTime) AS avg_alertingTime,
  SUM(busyTime) AS sum_busyTime, COUNT(busyTime) AS count_busyTime, AVG(busyTime) AS avg_busyTime,
  SUM(wrapUpTime) AS sum_wrapUpTime, COUNT(wrapUpTime) AS count_wrapUpTime, AVG(wrapUpTime) AS avg_wrapUpTime,
  SUM(waitTime) AS sum_waitTime, COUNT(waitTime) AS count_waitTime, AVG(waitTime) AS avg_waitTime,
  SUM(helpTime) AS sum_helpTime, COUNT(helpTime) AS count_helpTime, AVG(helpTime) AS avg_helpTime,
  SUM(availableTime) AS sum_availableTime,
  COUNT(availableTime) AS count_availableTime, AVG(availableTime) AS avg_availableTime
FROM calls [RANGE 24 HOURS SLIDE 10 SECONDS]
GROUP BY serviceId;

INSERT INTO by_agent
SELECT agentId,
  SUM(alertingTime) AS sum_alertingTime, COUNT(alertingTime) AS count_alertingTime,
  AVG(alertingTime) AS avg_alertingTime,
  SUM(busyTime) AS sum_busyTime, COUNT(busyTime) AS count_busyTime, AVG(busyTime) AS avg_busyTime,
  SUM(wrapUpTime) AS sum_wrapUpTime, COUNT(wrapUpTime) AS count_wrapUpTime, AVG(wrapUpTime) AS avg_wrapUpTime,
  SUM(waitTime) AS sum_waitTime, COUNT(waitTime) AS count_waitTime, AVG(waitTime) AS avg_waitTime,
  SUM(helpTime) AS sum_helpTime, COUNT(helpTime) AS count_helpTime, AVG(helpTime) AS avg_helpTime,
  SUM(availableTime) AS sum_availableTime,
  COUNT(availableTime) AS count_availableTime, AVG(availableTime) AS avg_availableTime
FROM calls [RANGE 24 HOURS SLIDE 10 SECONDS]
GROUP BY agentId;

INSERT INTO by_media
SELECT mediaId,
  SUM(alertingTime) AS sum_alertingTime, COUNT(alertingTime) AS count_alertingTime,
  AVG(alertingTime) AS avg_alertingTime,
  SUM(busyTime) AS sum_busyTime, COUNT(busyTime) AS count_busyTime, AVG(busyTime) AS avg_busyTime,
  SUM(wrapUpTime) AS sum_wrapUpTime, COUNT(wrapUpTime) AS count_wrapUpTime, AVG(wrapUpTime) AS avg_wrapUpTime,
  SUM(waitTime) AS sum_waitTime, COUNT(waitTime) AS count_waitTime, AVG(waitTime) AS avg_waitTime,
  SUM(helpTime) AS sum_helpTime, COUNT(helpTime) AS count_helpTime, AVG(helpTime) AS avg_helpTime,
  SUM(availableTime) AS sum_availableTime,
  COUNT(availableTime) AS count_availableTime, AVG(availableTime) AS avg_availableTime
FROM calls [RANGE 24 HOURS SLIDE 10 SECONDS]
GROUP BY mediaId;

INSERT INTO by_leg
SELECT interactionLegId,
  SUM(alertingTime) AS sum_alertingTime, COUNT(alertingTime) AS count_alertingTime,
  AVG(alertingTime) AS avg_alertingTime,
  SUM(busyTime) AS sum_busyTime, COUNT(busyTime) AS count_busyTime, AVG(busyTime) AS avg_busyTime,
  SUM(wrapUpTime) AS sum_wrapUpTime, COUNT(wrapUpTime) AS count_wrapUpTime, AVG(wrapUpTime) AS avg_wrapUpTime,
  SUM(waitTime) AS sum_waitTime, COUNT(waitTime) AS count_waitTime, AVG(waitTime) AS avg_waitTime,
  SUM(helpTime) AS sum_helpTime, COUNT(helpTime) AS count_helpTime, AVG(helpTime) AS avg_helpTime,
  SUM(availableTime) AS sum_availableTime,
  COUNT(availableTime) AS count_availableTime, AVG(availableTime) AS avg_availableTime
FROM calls [RANGE 24 HOURS SLIDE 10 SECONDS]
GROUP BY interactionLegId;

INSERT INTO by_agent_site
SELECT agentSite,
  SUM(alertingTime) AS sum_alertingTime, COUNT(alertingTime) AS count_alertingTime,
  AVG(alertingTime) AS avg_alertingTime,
  SUM(busyTime) AS sum_busyTime, COUNT(busyTime) AS count_busyTime, AVG(busyTime) AS avg_busyTime,
  SUM(wrapUpTime) AS sum_wrapUpTime, COUNT(wrapUpTime) AS count_wrapUpTime, AVG(wrapUpTime) AS avg_wrapUpTime,
  SUM(waitTime) AS sum_waitTime, COUNT(waitTime) AS count_waitTime, AVG(waitTime) AS avg_waitTime,
  SUM(helpTime) AS sum_helpTime, COUNT(helpTime) AS count_helpTime, AVG(helpTime) AS avg_helpTime,
  SUM(availableTime) AS sum_availableTime,
  COUNT(availableTime) AS count_availableTime, AVG(availableTime) AS avg_availableTime
FROM calls [RANGE 24 HOURS SLIDE 10 SECONDS]
GROUP BY agentSite;

INSERT INTO by_call_site
SELECT callSite,
  SUM(alertingTime) AS sum_alertingTime, COUNT(alertingTime) AS count_alertingTime,
  AVG(alertingTime) AS avg_alertingTime,
  SUM(busyTime) AS sum_busyTime, COUNT(busyTime) AS count_busyTime, AVG(busyTime) AS avg_busyTime,
  SUM(wrapUpTime) AS sum_wrapUpTime, COUNT(wrapUpTime) AS count_wrapUpTime, AVG(wrapUpTime) AS avg_wrapUpTime,
  SUM(waitTime) AS sum_waitTime, COUNT(waitTime) AS count_waitTime, AVG(waitTime) AS avg_waitTime,
  SUM(helpTime) AS sum_helpTime, COUNT(helpTime) AS count_helpTime, AVG(helpTime) AS avg_helpTime,
  SUM(availableTime) AS sum_availableTime,
  COUNT(availableTime) AS count_availableTime, AVG(availableTime) AS avg_availableTime
FROM calls [RANGE 24 HOURS SLIDE 10 SECONDS]
GROUP BY callSite;

INSERT INTO by_direction
SELECT direction,
  SUM(alertingTime) AS sum_alertingTime, COUNT(alertingTime) AS count_alertingTime,
  AVG(alertingTime) AS avg_alertingTime,
  SUM(busyTime) AS sum_busyTime, COUNT(busyTime) AS count_busyTime, AVG(busyTime) AS avg_busyTime,
  SUM(wrapUpTime) AS sum_wrapUpTime, COUNT(wrapUpTime) AS count_wrapUpTime, AVG(wrapUpTime) AS avg_wrapUpTime,
  SUM(waitTime) AS sum_waitTime, COUNT(waitTime) AS count_waitTime, AVG(waitTime) AS avg_waitTime,
  SUM(helpTime) AS sum_helpTime, COUNT(helpTime) AS count_helpTime, AVG(helpTime) AS avg_helpTime,
  SUM(availableTime) AS sum_availableTime,
  COUNT(availableTime) AS count_availableTime, AVG(availableTime) AS avg_availableTime
FROM calls [RANGE 24 HOURS SLIDE 10 SECONDS]
GROUP BY direction;
