import { takeCoverage } from 'node:v8';

/*
 * Loaded by each worker of `npm run test:coverage`. Vitest ends its workers by a signal, which leaves Node no time to
 * write its counts, so they are written at the message that asks a worker to stop.
 */

process.on('message', (message: { readonly type?: unknown } | null) => {
  if (message?.type === 'stop') takeCoverage();
});
