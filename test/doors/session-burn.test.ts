import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';
import { openSocket } from '../harness/doors/socket.ts';
import { hex32 } from '../harness/session/delegate.ts';
import { type BoundSession, bindChild, bindRoot, payUnder, revoke } from '../harness/session/trees.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let owner: Agent;
let root: BoundSession;
let child: BoundSession;
let grandchild: BoundSession;
beforeAll(async () => {
  service = await sharedService();
  owner = await service.newAgent();
  root = await bindRoot(service, owner.account);
  child = await bindChild(service, root);
  grandchild = await bindChild(service, child);
});

const burnOf = ({ delegation_hash }: { readonly delegation_hash: string }, after?: number) =>
  `subscription { sessionBurn(delegationHash: "${delegation_hash}"${after === undefined ? '' : `, after: ${after}`}) {
    position taskId paidUnder path amountAtomic spentAtomic } }`;
const burnEvent = (positions: number, { delegation_hash, task_id }: BoundSession, path: readonly BoundSession[]) => ({
  position: positions,
  taskId: task_id,
  paidUnder: delegation_hash,
  path: path.map(at => at.delegation_hash),
  amountAtomic: '2000',
  spentAtomic: String(2000 * positions),
});

/** Reads that many events from a socket and then ends the subscription. */
async function take(socket: ReturnType<typeof openSocket>, query: string, length: number): Promise<unknown[]> {
  const heard: unknown[] = [];
  for await (const { data, errors } of socket.each(query)) {
    if (errors) throw errors;
    heard.push(data?.sessionBurn);
    if (heard.length === length) break;
  }
  return heard;
}

const treeOf = async ({ delegation_hash }: BoundSession, page = '', session = owner.session) => {
  const query = `{ sessionTree(delegationHash: "${delegation_hash}"${page}) {
    truncated nextCursor sessions { delegationHash burnPosition spentAtomic endedBy { delegationHash } } } }`;
  const { body } = await service.post<{ data: { sessionTree: JsonObject }; errors?: JsonObject[] }>(
    '/graphql',
    { query },
    { 'X-SVC-Session': session },
  );
  return body.errors ?? body.data.sessionTree;
};

describe('sessionBurn', () => {
  it('tells what was burnt below a session, each payment once and numbered for whom it is told to', async () => {
    const socket = openSocket(service, { session: owner.session });
    expect(await take(socket, burnOf(root, 0), 3)).toEqual([
      burnEvent(1, root, [root]),
      burnEvent(2, child, [root, child]),
      burnEvent(3, grandchild, [root, child, grandchild]),
    ]);
    expect(await take(socket, burnOf(child, 0), 2)).toEqual([
      burnEvent(1, child, [child]),
      burnEvent(2, grandchild, [child, grandchild]),
    ]);
    expect(await take(socket, burnOf(root, -1), 1)).toEqual([burnEvent(3, grandchild, [root, child, grandchild])]);
  });

  it('goes on from where sessionTree stands, and is told as a grandchild pays', async () => {
    expect(await treeOf(root)).toEqual({
      truncated: false,
      nextCursor: null,
      sessions: [
        [root, 3],
        [child, 2],
        [grandchild, 1],
      ].map(([session, burns]) => ({
        delegationHash: (session as BoundSession).delegation_hash,
        burnPosition: burns,
        spentAtomic: String(2000 * Number(burns)),
        endedBy: null,
      })),
    });
    const sockets = [1, 2].map(() => openSocket(service, { session: owner.session }));
    const heard = sockets.map(socket => take(socket, burnOf(root, 3), 2));
    const ids = [await payUnder(service, grandchild, 'One more'), await payUnder(service, child, 'And one')];
    const told = [
      { ...burnEvent(4, grandchild, [root, child, grandchild]), taskId: ids[0] },
      { ...burnEvent(5, child, [root, child]), taskId: ids[1] },
    ];
    expect(await Promise.all(heard)).toEqual([told, told]);
  });

  it('is for the payers over a session: nobody else is told anything', async () => {
    const stranger = await service.newAgent();
    const refusal = (code: string) => [expect.objectContaining({ extensions: expect.objectContaining({ code }) })];
    await expect(openSocket(service).first(burnOf(root, 0))).rejects.toEqual(refusal('unauthenticated'));
    const strangers = openSocket(service, { session: stranger.session });
    await expect(strangers.first(burnOf(root, 0))).rejects.toEqual(refusal('not_a_party'));
    await expect(strangers.first(burnOf({ delegation_hash: hex32() }, 0))).rejects.toEqual(refusal('not_found'));
    // The payer of only a child session sees the sessions below the child, but not those above it.
    const payer = await service.newAgent();
    const own = await bindChild(service, root, payer.account);
    const paying = openSocket(service, { session: payer.session });
    expect(await take(paying, burnOf(own, 0), 1)).toEqual([burnEvent(1, own, [own])]);
    await expect(paying.first(burnOf(root, 0))).rejects.toEqual(refusal('not_a_party'));
  });

  it('is refused of a session that was revoked, or one over it', async () => {
    const over = await bindRoot(service, owner.account);
    const under = await bindChild(service, over);
    await revoke(service, owner.account, over);
    for (const session of [over, under])
      await expect(openSocket(service, { session: owner.session }).first(burnOf(session, 0))).rejects.toEqual([
        expect.objectContaining({
          extensions: expect.objectContaining({ code: 'session_not_active', session_status: 'revoked' }),
        }),
      ]);
    expect(await treeOf(over)).toMatchObject({
      sessions: [over, under].map(() => ({ endedBy: { delegationHash: over.delegation_hash } })),
    });
  });
});

describe('sessionTree', () => {
  it('comes in pages, parents before children, and says where it is longer', async () => {
    const payer = await service.newAgent();
    const top = await bindRoot(service, payer.account);
    const middle = await bindChild(service, top);
    const leaves = [await bindChild(service, middle), await bindChild(service, middle)];
    const page = async (cursor: string | null) =>
      (await treeOf(top, `, limit: 2${cursor ? `, cursor: "${cursor}"` : ''}`, payer.session)) as unknown as {
        readonly truncated: boolean;
        readonly nextCursor: string | null;
        readonly sessions: readonly { readonly delegationHash: string }[];
      };
    const names = (shown: { readonly sessions: readonly { readonly delegationHash: string }[] }) =>
      shown.sessions.map(({ delegationHash }) => delegationHash);
    const first = await page(null);
    expect(first.truncated).toBe(true);
    expect(names(first)).toEqual([top.delegation_hash, middle.delegation_hash]);
    const last = await page(first.nextCursor);
    expect(last).toMatchObject({ truncated: false, nextCursor: null });
    expect(names(last)).toEqual(leaves.map(leaf => leaf.delegation_hash).sort());
    expect(await treeOf(top, ', cursor: "2"', payer.session)).toMatchObject([
      { extensions: { code: 'invalid_request', param: 'cursor' } },
    ]);
  });
});
