import pino, { type DestinationStream, type Logger } from 'pino';
import { isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';

/* The log of the process: lines of JSON, or plain lines on a terminal. Errors are logged without values that they may contain. */

/** Properties that libraries set on their errors and that are logged. They contain names, never values. */
const SHOWN = ['code', 'severity', 'schema', 'table', 'column', 'constraint', 'routine', 'syscall'] as const;

/**
 * An error in the form for the log. Other properties are removed: Postgres adds the row that failed, and Node's parser the packet, which
 * may contain payments, sessions and keys.
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
  // AsyncDisposableStack throws a SuppressedError if several resources failed to close. It has the last fault, and those before it.
  return error instanceof SuppressedError ? [error.error, error.suppressed] : null;
}

/** Bytes for which lines are buffered, because a system call for each request is expensive. */
const KEPT_BYTES = 4 * 1024;
const KEPT_MS = 100;
/** Bytes that may wait if nothing reads them. Further lines are dropped, so that memory stays limited. */
const UNREAD_BYTES_MAX = 16 * 1024 * 1024;
const WARN = pino.levels.values.warn ?? 0;

/** Writes lines of JSON. Lines that report a problem are written at once, others within `KEPT_MS`. */
function jsonLogger(level: string): Logger {
  const lines = pino.destination({
    sync: false,
    minLength: KEPT_BYTES,
    periodicFlush: KEPT_MS,
    maxLength: UNREAD_BYTES_MAX,
  });
  return loggerOn(lines, level, { urgent: () => lines.flush() });
}

/** Opens the log on stdout: lines of JSON, or plain lines on a terminal. */
export function openLogger(level: string): Logger {
  if (!process.stdout.isTTY) return jsonLogger(level);
  return loggerOn(
    readableLines(text => process.stdout.write(text)),
    level,
  );
}

/** Opens a log on any stream. `urgent`: called after each line that reports a problem. */
export function loggerOn(
  lines: DestinationStream,
  level: string,
  { urgent }: { readonly urgent?: () => void } = {},
): Logger {
  return pino(
    {
      level,
      // The code of this service logs none of these, but a library might log them with a request.
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

/** Members of each line that a person at a terminal does not need. */
const KNOWN: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'err']);

const ERROR = pino.levels.values.error ?? 0;

/** Turns the log's JSON lines into text for people: time of day, level, sentence, facts. */
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
  // A warning shows only the message of its error, and an error its stack.
  return Number(level) >= ERROR ? `${head}\n${String(err.stack ?? err.message)}` : `${head}: ${String(err.message)}`;
}

function plain(value: Json | undefined): string {
  return typeof value === 'string' && /^\S+$/.test(value) ? value : JSON.stringify(value);
}
