import pino, { type Logger } from 'pino';

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
  const several = error instanceof AggregateError ? { errors: error.errors.map(shown) } : {};
  return { type, message, stack, ...Object.fromEntries(named), ...several };
}

export function openLogger(level: string): Logger {
  return pino({ level, redact: ['req.headers', 'headers'], serializers: { err: shown } });
}
