import { expect, it } from 'vitest';
import { SocketTally } from '../../../gateway/operations/metrics.ts';
import { EventBody } from '../../../gateway/sockets/event-body.ts';
import { NextMessage } from '../../../gateway/sockets/frame.ts';
import { Refusal } from '../../../schema/errors.ts';
import { limits } from '../../../schema/limits.ts';

const CHARS = 64 * 1024;

it('an answer in events that nobody reads is cut off, and counted, where as much waits as may', () => {
  const tally = new SocketTally();
  const body = new EventBody(tally, () => new Refusal('forbidden'));
  const delivery = body.delivery({ held: false, awaitPass: async () => {} });
  let sent = 0;
  while (delivery.send(new NextMessage(sent, { data: { text: 'x'.repeat(CHARS) } }))) sent++;
  expect(sent).toBe(Math.ceil(limits.socket_buffered_bytes_max / CHARS));
  expect([tally.dropped.slow, body.open, body.readable.destroyed]).toEqual([1, false, true]);
});

it('what is read at its own pace waits for its reader, and no longer than that is there', async () => {
  const body = new EventBody(new SocketTally(), () => new Refusal('forbidden'));
  let written = false;
  const writing = body.write({ data: { text: 'x'.repeat(CHARS) } }).then(() => {
    written = true;
  });
  await new Promise(setImmediate);
  expect(written).toBe(false);
  body.readable.resume();
  await writing;
  const again = body.write({ data: { text: 'x'.repeat(CHARS) } });
  body.readable.destroy();
  await again;
});

it('what is shut says why, and completes', async () => {
  const body = new EventBody(new SocketTally(), () => new Refusal('forbidden'));
  body.shut('forbidden');
  body.shut('broken');
  let text = '';
  for await (const bytes of body.readable) text += String(bytes);
  expect(text).toMatch(/^:\n\nevent: next\ndata: \{"errors":\[.*"forbidden".*\]\}\n\nevent: complete\ndata: \n\n$/);
});
