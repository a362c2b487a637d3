import pino, { type DestinationStream, type Logger } from 'pino';
import { isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';

/* The log: lines of JSON, or plain ones on a terminal; of an error no value that it may hold. */

/** Of what libraries hang on their errors: names of things, never values. */
const SHOWN = ['code', 'severity', 'schema', 'table', 'column', 'constraint', 'routine', 'syscall'] as const;

/**
 * An error as an operator may read it. Postgres adds the row that failed, Node's parser the packet as it came: in them
 * are payments, sessions and keys.
 */
function shown(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { type, message, stack, ...members } = pino.stdSerializers.err(error);
  const named = SHOWN.flatMap(name => (members[name] === undefined ? [] : [[name, members[name]]]));
  const several = severalIn(error);
  return { type, message, stack, ...Object.fromEntries(named), ...(several && { errors: several.map(shown) }) };
}

function severalIn(error: Error): readonly unknown[] | null {
  if (error instanceof AggregateError) return error.errors;
  // Thrown by AsyncDisposableStack where several failed to close: the last of them, and those before it.
  return error instanceof SuppressedError ? [error.error, error.suppressed] : null;
}

/** A line per request is written with its neighbours, not by a system call of its own. */
const KEPT_BYTES = 4 * 1024;
const KEPT_MS = 100;
/** Where nobody reads them, lines are lost rather than memory. */
const UNREAD_BYTES_MAX = 16 * 1024 * 1024;
const WARN = pino.levels.values.warn ?? 0;

/** Those that say that something is wrong at once, the others within a moment. */
function jsonLogger(level: string): Logger {
  const lines = pino.destination({
    sync: false,
    minLength: KEPT_BYTES,
    periodicFlush: KEPT_MS,
    maxLength: UNREAD_BYTES_MAX,
  });
  return loggerOn(lines, level, { urgent: () => lines.flush() });
}

/** To stdout, lines of JSON; on a terminal, which a person reads, plain ones. */
export function openLogger(level: string): Logger {
  if (!process.stdout.isTTY) return jsonLogger(level);
  return loggerOn(
    readableLines(text => process.stdout.write(text)),
    level,
  );
}

/** Lines go where they are told to. `urgent`: after each that says that something is wrong. */
export function loggerOn(
  lines: DestinationStream,
  level: string,
  { urgent }: { readonly urgent?: () => void } = {},
): Logger {
  return pino(
    {
      level,
      // Nothing of ours logs these; a library's line about a request would.
      redact: ['req', 'res', 'headers'],
      serializers: { err: shown },
      hooks: {
        logMethod(line, log, number) {
          log.apply(this, line);
          if (number >= WARN) urgent?.();
        },
      },
    },
    lines,
  );
}

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
    .map(([name, value]) => `${name}=${plain(value)}`);
  const head = [at, (pino.levels.labels[Number(level)] ?? '').padEnd(5), String(msg ?? ''), ...facts].join(' ');
  if (!isJsonObject(err)) return head;
  // What passes is told by its sentence; of what is broken somebody wants to know where.
  return Number(level) >= ERROR ? `${head}\n${String(err.stack ?? err.message)}` : `${head}: ${String(err.message)}`;
}

function plain(value: Json | undefined): string {
  return typeof value === 'string' && /^\S+$/.test(value) ? value : JSON.stringify(value);
}
