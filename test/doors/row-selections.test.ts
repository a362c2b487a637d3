import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { type BookCursor, createBookFollower, type FollowedEvent } from '../../rest-compat/client/book-follower.ts';
import { bookSocket } from '../../rest-compat/client/book-socket.ts';
import { bookStream } from '../../rest-compat/client/book-stream.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';
import { ROOT } from '../harness/root.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const transports = [
  ['server-sent events', bookStream],
  ['graphql-ws', bookSocket],
] as const;

/** The first event of a new book with this selection of its row, or the error that ended the subscription. */
async function followed(over: typeof bookStream, row: string) {
  const { agent_id, session } = await service.newAgent();
  const { promise: came, resolve } = Promise.withResolvers<FollowedEvent>();
  const store = { load: () => null, apply: (event: FollowedEvent, _: BookCursor) => resolve(event) };
  const follower = createBookFollower({ url: service.url, books: [{ agent_id, session }], store, over, row });
  onTestFinished(() => follower.close());
  return Promise.race([came, follower.ended]);
}

it.each(transports)('by %s the selection on the page brings those members of the row', async (_, over) => {
  const page = await readFile(join(ROOT, 'rest-compat/client/README.md'), 'utf8');
  const [, row = ''] = /`row: '([^']+)'`/.exec(page) ?? [];
  expect(await followed(over, row)).toMatchObject({
    position: 1,
    row: { evidence: expect.any(String), payment: { amount: expect.any(String) } },
  });
});

it.each(transports)('by %s a selection that the service does not know ends the book, and says why', async (_, over) => {
  expect(await followed(over, 'nothing_of_the_kind')).toMatchObject([
    { kind: 'refused', code: 'invalid_request', why: expect.stringContaining('nothing_of_the_kind') },
  ]);
});
