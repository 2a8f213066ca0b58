// A line without axes, drawn on a canvas as wide as its place.
export function sparkline(canvas, values, color, floor = 0) {
  const scale = devicePixelRatio || 1;
  const [wide, high] = [canvas.clientWidth, canvas.clientHeight];
  if (!wide) return;
  if (canvas.width !== Math.round(wide * scale)) [canvas.width, canvas.height] = [Math.round(wide * scale), Math.round(high * scale)];
  const draw = canvas.getContext("2d");
  draw.setTransform(scale, 0, 0, scale, 0, 0);
  draw.clearRect(0, 0, wide, high);
  const known = values.filter((value) => value !== null && value !== undefined && Number.isFinite(value));
  if (known.length < 2) return;
  const [low, top] = [Math.min(floor, ...known), Math.max(...known)];
  const place = (value) => high - 2 - ((value - low) / (top - low || 1)) * (high - 6);
  const step = wide / (values.length - 1);
  draw.beginPath();
  let begun = false;
  values.forEach((value, at) => {
    if (value === null || value === undefined || !Number.isFinite(value)) return;
    if (begun) draw.lineTo(at * step, place(value));
    else draw.moveTo(at * step, place(value));
    begun = true;
  });
  draw.strokeStyle = color;
  draw.lineWidth = 1.5;
  draw.lineJoin = "round";
  draw.stroke();
  draw.lineTo(wide, high);
  draw.lineTo(0, high);
  draw.globalAlpha = 0.12;
  draw.fillStyle = color;
  draw.fill();
  draw.globalAlpha = 1;
}

// A colour of the theme; asking the document for it each time would cost more than drawing with it.
let theme = null;
let colours = new Map();
export function css(name) {
  const now = document.documentElement.dataset.theme;
  if (theme !== now) [theme, colours] = [now, new Map()];
  if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return colours.get(name);
}
