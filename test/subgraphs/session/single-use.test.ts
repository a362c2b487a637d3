import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../../gateway/parts.ts';
import { limits } from '../../../schema/limits.ts';
import { forgetUsedProofs } from '../../../subgraphs/session/possession/forget-used-proofs.ts';
import { proofWindow } from '../../../subgraphs/session/possession/proof.ts';
import { takeProof } from '../../../subgraphs/session/possession/take-proof.ts';
import { freshDatabase } from '../../harness/database.ts';
import { NOW_MS, newWallet, openDesk, type SessionDesk } from '../../harness/session/desk.ts';

let desk: SessionDesk;
beforeAll(async () => {
  desk = await openDesk();
});

const AT = NOW_MS / 1000;
const count = async (table: string) =>
  (await desk.database.query<{ count: number }>({ text: `select count(*)::int as count from ${table}` }))[0]?.count;

describe('a recover signature', () => {
  const spent = { code: 'control_proof_invalid', status: 401, extensions: { param: 'signature_timestamp' } };

  it('opens one session, once: again it is 401, and the session that it opened lives', async () => {
    const account = newWallet();
    const { agent_id, session, task_id } = await desk.register(account);
    const recovered = await desk.registerBy(account, task_id, AT);
    await expect(desk.registerBy(account, task_id, AT)).rejects.toMatchObject(spent);
    expect(await desk.opens(session)).toBeNull();
    expect(await desk.opens(recovered.session)).toBe(agent_id);
  });

  it('of a later time opens another: so whoever has lost an answer gets a session', async () => {
    const account = newWallet();
    const { agent_id, task_id } = await desk.register(account);
    const lost = await desk.registerBy(account, task_id, AT);
    const { session } = await desk.registerBy(account, task_id, AT + 1);
    expect(await desk.opens(lost.session)).toBeNull();
    expect(await desk.opens(session)).toBe(agent_id);
  });

  it('twenty times at once opens one', async () => {
    const account = newWallet();
    const { agent_id, task_id } = await desk.register(account);
    const heard = await Promise.allSettled(Array.from({ length: 20 }, () => desk.registerBy(account, task_id, AT)));
    const [opened, ...more] = heard.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []));
    expect(more).toEqual([]);
    expect(await desk.opens(opened?.session ?? '')).toBe(agent_id);
    for (const one of heard) if (one.status === 'rejected') expect(one.reason).toMatchObject(spent);
  });

  it('that came to nothing is good still', async () => {
    const account = newWallet();
    const { task_id } = await desk.register(newWallet());
    await expect(desk.registerBy(account, task_id, AT)).rejects.toMatchObject({ code: 'payer_mismatch' });
    const own = await desk.register(account);
    expect(await desk.registerBy(account, own.task_id, AT)).toMatchObject({ agentId: own.agent_id });
  });
});

describe('a use of a proof', () => {
  const agent_id = 7 as never;
  const window = proofWindow(Date.now());
  const use = (n: number) => ({ window, digest: n.toString(16).padStart(64, '0') });

  it('is taken once of twenty that ask at once, in two processes', async () => {
    const { url } = await freshDatabase();
    const stores = await Promise.all([openStore(url), openStore(url)]);
    const heard = await Promise.all(
      Array.from({ length: 20 }, (_, n) => takeProof(stores[n % 2] as SessionDesk['database'], { agent_id }, use(1))),
    );
    await Promise.all(stores.map(store => store.close()));
    expect(heard.sort()).toEqual(['taken', ...Array.from({ length: 19 }, () => 'used')]);
  });

  it("is another agent's own", async () => {
    expect(await takeProof(desk.database, { agent_id }, use(2))).toBe('taken');
    expect(await takeProof(desk.database, { agent_id: 8 as never }, use(2))).toBe('taken');
    expect(await takeProof(desk.database, { agent_id }, use(2))).toBe('used');
  });

  it('is not taken where as many are remembered as may be, of that agent alone', async () => {
    await desk.database.query({
      text: `insert into proof_use select 9, sha256(n::text::bytea), now() from generate_series(1, $1) as n`,
      values: [limits.book_proofs_taken_max],
    });
    expect(await takeProof(desk.database, { agent_id: 9 as never }, use(3))).toBe('full');
    expect(await takeProof(desk.database, { agent_id }, use(3))).toBe('taken');
    await forgetUsedProofs(desk.database);
    expect(await takeProof(desk.database, { agent_id: 9 as never }, use(3))).toBe('taken');
  });

  it('is forgotten once its proof passes no more in any process, and no sooner; a signature likewise', async () => {
    await desk.database.query({ text: 'truncate proof_use, signature_use' });
    const ended = proofWindow(Date.now()) - 3;
    await takeProof(desk.database, { agent_id }, { ...use(4), window: ended });
    await takeProof(desk.database, { agent_id }, { ...use(5), window });
    await desk.database.query({
      text: `insert into signature_use values ('old', now() - interval '1 second'), ('fresh', now() + interval '1 minute')`,
    });
    await forgetUsedProofs(desk.database);
    expect([await count('proof_use'), await count('signature_use')]).toEqual([1, 1]);
    expect(await takeProof(desk.database, { agent_id }, { ...use(5), window })).toBe('used');
  });
});
