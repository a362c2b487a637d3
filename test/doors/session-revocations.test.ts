import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../gateway/parts.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { sessionLimits } from '../../schema/limits.ts';
import { keepRevocation, lockRevocations } from '../../subgraphs/receipt/issuer/revoked-sessions.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { atEnd } from '../harness/release.ts';
import { hex32 } from '../harness/session/delegate.ts';
import { type BoundSession, bindChild, bindRoot, revoke, sessionPath } from '../harness/session/trees.ts';

const LIST = '/.well-known/revocations';
/** Number of revocations, which is one and a half pages. */
const LISTED = 1_500;
const PAYERS = 10;

interface RevocationList extends JsonObject {
  readonly sessions: readonly (JsonObject & { readonly seq: number; readonly delegation_hash: string })[];
  readonly next_cursor: string | null;
}

let service: Service;
let owner: Awaited<ReturnType<Service['newAgent']>>;
let root: BoundSession;
let child: BoundSession;
beforeAll(async () => {
  service = await openService();
  owner = await service.newAgent();
  root = await bindRoot(service, owner.account);
  child = await bindChild(service, root);
  const store = await openStore(service.database_url);
  atEnd(() => store.close());
  const newRevocation = () => ({ delegation_hash: hex32(), payer: '0x', at: 1, signature: '0x' });
  // Several payers at once.
  const payer = async () => {
    for (let left = LISTED / PAYERS; left > 0; left--)
      await store.transaction(tx => {
        lockRevocations(tx);
        return keepRevocation(tx, newRevocation(), false);
      });
  };
  await Promise.all(Array.from({ length: PAYERS }, payer));
});

const list = async (query = '') => (await service.get<RevocationList>(LIST + query)).body;
const numbers = ({ sessions }: RevocationList) => sessions.map(({ seq }) => seq);
const downFrom = (newest: number, length: number) => Array.from({ length }, (_, at) => newest - at);

describe(LIST, () => {
  it('200: the newest 1,000 first, and behind its cursor all others, numbered without a gap', async () => {
    const first = await list();
    expect(numbers(first)).toEqual(downFrom(LISTED, sessionLimits.page_revocations_max));
    const second = await list(`?cursor=${first.next_cursor}`);
    expect(numbers(second)).toEqual(downFrom(LISTED - sessionLimits.page_revocations_max, 500));
    expect(second.next_cursor).toBeNull();
    expect(second.keys).toEqual(first.keys);
    const times = [...first.sessions, ...second.sessions].map(({ revoked_at }) => String(revoked_at));
    expect(times).toEqual(times.toSorted().reverse());
  });

  it('200 in pages of any size, clamped; what is revoked meanwhile moves no page that is behind it', async () => {
    const first = await list('?limit=2');
    expect(numbers(first)).toEqual(downFrom(first.sessions[0]?.seq ?? 0, 2));
    const behind = await list(`?limit=3&cursor=${first.next_cursor}`);
    await revoke(service, owner.account, await bindRoot(service, owner.account));
    expect(await list(`?limit=3&cursor=${first.next_cursor}`)).toEqual(behind);
    expect(numbers(await list('?limit=1'))).toEqual([(first.sessions[0]?.seq ?? 0) + 1]);
    expect((await list('?limit=100000')).sessions).toHaveLength(sessionLimits.page_revocations_max);
    expect(await list('?limit=2&cursor=3')).toMatchObject({ sessions: [{ seq: 2 }, { seq: 1 }], next_cursor: null });
    expect(await list('?cursor=1')).toMatchObject({ sessions: [], next_cursor: null });
  });

  it('304 while the page says the same, and 200 once it does not', async () => {
    const known = await service.get(`${LIST}?limit=5`);
    const etag = known.headers.get('etag') ?? '';
    expect(known.headers.get('cache-control')).toBe('public, max-age=60');
    const behind = await service.get(`${LIST}?limit=5&cursor=100`);
    const again = (path: string, tag: string | null) => service.get(path, { 'If-None-Match': tag ?? '' });
    expect((await again(`${LIST}?limit=5`, etag)).status).toBe(304);
    await revoke(service, owner.account, await bindRoot(service, owner.account));
    expect((await again(`${LIST}?limit=5`, etag)).status).toBe(200);
    expect((await again(`${LIST}?limit=5&cursor=100`, behind.headers.get('etag'))).status).toBe(304);
  });

  it.each(['cursor=0', 'cursor=x', 'cursor=-1', `cursor=${'9'.repeat(16)}`, 'limit=0', 'limit=x'])(
    '400 for %s',
    async query => {
      expect(await service.get(`${LIST}?${query}`)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    },
  );
});

describe('a child whose parent was revoked', () => {
  it('says which revocation has ended it, as the list has it', async () => {
    const path = [root.delegation_hash, child.delegation_hash];
    expect((await service.get(sessionPath(child.delegation_hash))).body).toMatchObject({ path, ended_by: null });
    const { status: _, ...said } = await revoke(service, owner.account, root);
    const { body } = await service.get(sessionPath(child.delegation_hash));
    expect(body).toMatchObject({ status: 'revoked', path, ended_by: said });
    const { sessions } = await list('?limit=1');
    expect(sessions).toEqual([{ ...said, seq: sessions[0]?.seq }]);
    // A revocation of the child comes too late to have ended it.
    await revoke(service, owner.account, child);
    expect((await service.get(sessionPath(child.delegation_hash))).body).toEqual(body);
  });
});
