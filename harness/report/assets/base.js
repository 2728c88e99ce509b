"use strict";
// What all parts of a report share. Every text of a run becomes a text node; no markup is made from it.

const COLOURS = 12;
const byId = (id) => document.getElementById(id);
const data = (name) => JSON.parse(byId(`data-${name}`).textContent);
const whole = (n) => n.toLocaleString("en-US");
const or = (value, other) => (value === null || value === undefined ? other : value);
const figure = (v) => (v === null ? "–" : v.toFixed(2).replace("-", "−"));

/** An element with attributes and children; a string child is a text node. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}
