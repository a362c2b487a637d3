import pino, { type DestinationStream } from 'pino';
import { isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';

/** What each line carries, and a person at a terminal knows. */
const KNOWN: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'err']);

const ERROR = pino.levels.values.error ?? 0;

/** Takes the log's JSON lines and writes them for people: time of day, level, sentence, facts. */
export function readableLines(write: (text: string) => unknown): DestinationStream {
  return { write: line => void write(`${readable(JSON.parse(line) as JsonObject)}\n`) };
}

function readable(line: JsonObject): string {
  const { level, time, msg, err } = line;
  const at = new Date(Number(time)).toTimeString().slice(0, 8);
  const facts = Object.entries(line)
    .filter(([name]) => !KNOWN.has(name))
    .map(([name, value]) => `${name}=${shown(value)}`);
  const head = [at, (pino.levels.labels[Number(level)] ?? '').padEnd(5), String(msg ?? ''), ...facts].join(' ');
  if (!isJsonObject(err)) return head;
  // What passes is told by its sentence; of what is broken somebody wants to know where.
  return Number(level) >= ERROR ? `${head}\n${String(err.stack ?? err.message)}` : `${head}: ${String(err.message)}`;
}

function shown(value: Json | undefined): string {
  return typeof value === 'string' && /^\S+$/.test(value) ? value : JSON.stringify(value);
}
