import { expect, it } from 'vitest';
import { loggerOn } from '../../../gateway/operations/logger.ts';

/* What openGateway has opened is closed by an AsyncDisposableStack: what this project relies on of it. */

it('closes in the reverse order, and one that fails to close keeps none of the others open', async () => {
  const closed: string[] = [];
  const opened = new AsyncDisposableStack();
  opened.adopt('database', async name => void closed.push(name));
  opened.adopt('hubs', () => Promise.reject(new Error('the hubs do not close')));
  opened.adopt('server', async name => void closed.push(name));
  await expect(opened.disposeAsync()).rejects.toThrow('the hubs do not close');
  expect(closed).toEqual(['server', 'database']);
  await opened.disposeAsync();
  expect(closed).toEqual(['server', 'database']);
});

it('the log names each of several that fail, and shows no value that hangs on them', async () => {
  const opened = new AsyncDisposableStack();
  for (const name of ['database', 'hubs', 'server'])
    opened.defer(() => Promise.reject(Object.assign(new Error(`${name} does not close`), { detail: 'a secret' })));
  const lines: string[] = [];
  const logger = loggerOn({ write: line => void lines.push(line) }, 'error');
  await opened
    .disposeAsync()
    .catch(err => logger.error({ err }, 'an error occurred while the process stopped, so it exits with code 1'));
  for (const name of ['database', 'hubs', 'server']) expect(lines.join('')).toContain(`"${name} does not close"`);
  expect(lines.join('')).not.toContain('a secret');
});
