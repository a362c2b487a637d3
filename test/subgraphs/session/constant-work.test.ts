import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { identify } from '../../../gateway/graph/identify.ts';
import { canonicalHash } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { type Possession } from '../../../schema/principal.ts';
import { requireHeld, requirePossession } from '../../../subgraphs/access.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { type SessionContext } from '../../../subgraphs/session/context.ts';
import { PossessionResolver } from '../../../subgraphs/session/possession/possession.resolver.ts';
import { bookProof, boundProof, proofWindow } from '../../../subgraphs/session/possession/proof.ts';
import { NOW_MS, newWallet, openDesk, type SessionDesk } from '../../harness/session/desk.ts';

/** The spy replaces the function also in modules that are already loaded, because their imports of a builtin follow it. */
const createHmac = vi.spyOn(crypto, 'createHmac');
syncBuiltinESMExports();
afterAll(() => {
  createHmac.mockRestore();
  syncBuiltinESMExports();
});

type Registered = Awaited<ReturnType<SessionDesk['register']>>;
type IdentifyOptions = Partial<Pick<Parameters<typeof identify>[0], 'proof'>> & { readonly session?: string };

let desk: SessionDesk;
let known: Registered;
let other: Registered;
beforeAll(async () => {
  desk = await openDesk();
  [known, other] = [await desk.register(newWallet()), await desk.register(newWallet())];
});

/** The work of identifying a caller: statements by name, number of opened boxes and computed HMACs. */
async function workOf({ session, ...shown }: IdentifyOptions): Promise<{ possession: Possession; work: object }> {
  const queries: (string | undefined)[] = [];
  let opened = 0;
  const hmacs = createHmac.mock.calls.length;
  const { database, vault } = desk.checks;
  const { possession } = await identify(
    {
      sessions: session === undefined ? [] : [session],
      agent: null,
      proof: null,
      api_key: null,
      address: '',
      ...shown,
    },
    {
      ...desk.checks,
      database: {
        ...database,
        query: (async statement => {
          queries.push(statement.name);
          return database.query(statement);
        }) as Database['query'],
      },
      vault: {
        ...vault,
        open(box, label) {
          opened++;
          return vault.open(box, label);
        },
      },
    },
  );
  return { possession, work: { queries, opened, hmacs: createHmac.mock.calls.length - hmacs } };
}

const proofOf = (session: string, agent_id: number) => bookProof(session, agent_id, proofWindow(NOW_MS));
const plain = (agent_id: number, value: string) => ({ agent_id, value, nonce: null, request: null });
const wrongProof = `sha256=${'0'.repeat(64)}`;

/** Ids that no agent has: never given, out of range, or not an integer. */
const nobody = fc.oneof(
  fc.integer({ min: 1_000_000, max: 2 ** 31 - 1 }),
  fc.integer({ min: -5, max: 0 }),
  fc.double(),
  fc.constantFrom(2 ** 31, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY),
);

describe('the same work, whether the agent exists or not', () => {
  it('for a book proof: one query, one box opened, two HMACs', async () => {
    const work = { queries: ['session box of agent'], opened: 1, hmacs: 2 };
    const right = proofOf(known.session, known.agent_id);
    expect(await workOf({ proof: plain(known.agent_id, right) })).toEqual({
      possession: expect.objectContaining({ kind: 'proven', agent_id: known.agent_id }),
      work,
    });
    const wrong = { possession: { kind: 'wrong' }, work };
    expect(await workOf({ proof: plain(known.agent_id, wrongProof) })).toEqual(wrong);
    expect(await workOf({ proof: plain(other.agent_id, right) })).toEqual(wrong);
    await fc.assert(
      fc.asyncProperty(nobody, async agent_id => {
        expect(await workOf({ proof: plain(agent_id, proofOf(known.session, agent_id)) })).toEqual(wrong);
      }),
      { numRuns: 50 },
    );
  });

  it('for a bound proof: the same, and nothing is taken', async () => {
    const work = { queries: ['session box of agent'], opened: 1, hmacs: 2 };
    const request = { method: 'POST', path: '/v1/agents/1/book', body: { budget: '5', proof: 'in the body' } };
    const nonce = 'n'.repeat(16);
    const bound = { ...request, body_sha256: canonicalHash({ budget: '5' }), nonce };
    const value = boundProof(known.session, known.agent_id, proofWindow(NOW_MS), bound);
    const shown = (agent_id: number) => ({ proof: { agent_id, value, nonce, request } });
    for (const _ of ['once', 'again']) {
      expect(await workOf(shown(known.agent_id))).toEqual({
        possession: expect.objectContaining({ kind: 'proven', agent_id: known.agent_id, by: 'bound_proof' }),
        work,
      });
    }
    const wrong = { possession: { kind: 'wrong' }, work };
    expect(await workOf(shown(other.agent_id))).toEqual(wrong);
    await fc.assert(
      fc.asyncProperty(nobody, async agent_id => {
        expect(await workOf(shown(agent_id))).toEqual(wrong);
      }),
      { numRuns: 50 },
    );
  });

  it('for a proof in no shape', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), nobody, async (value, agent_id) => {
        const [one, two] = [
          await workOf({ proof: plain(known.agent_id, value) }),
          await workOf({ proof: plain(agent_id, value) }),
        ];
        expect(one.possession).toEqual({ kind: 'wrong' });
        expect(two).toEqual(one);
      }),
      { numRuns: 50 },
    );
  });

  it('for a session: one query, whatever it looks like', async () => {
    const work = { queries: ['held by session'], opened: 0, hmacs: 0 };
    expect(await workOf({ session: known.session })).toMatchObject({ possession: { kind: 'proven' }, work });
    const account = newWallet();
    const { session: ended, task_id } = await desk.register(account);
    await desk.registerBy(account, task_id);
    const shapes = fc.oneof(
      fc.string(),
      fc.constantFrom('svcs_', `svcs_${'A'.repeat(43)}`, `${known.session} `, ended),
    );
    await fc.assert(
      fc.asyncProperty(shapes, async session => {
        expect(await workOf({ session })).toEqual({ possession: { kind: 'wrong' }, work });
      }),
      { numRuns: 50 },
    );
  });

  it('for a right session beside a proof for somebody else', async () => {
    const shown = (agent_id: number): IdentifyOptions => ({
      session: known.session,
      proof: plain(agent_id, proofOf(known.session, agent_id)),
    });
    const wrong = await workOf(shown(other.agent_id));
    expect(wrong).toEqual({
      possession: { kind: 'wrong' },
      work: { queries: ['held by session', 'session box of agent'], opened: 1, hmacs: 2 },
    });
    expect(await workOf(shown(999_999))).toEqual(wrong);
    expect(await workOf(shown(0))).toEqual(wrong);
  });
});

describe('the same words, whether the agent exists or not', () => {
  const refusalOf = (act: () => unknown): object => {
    try {
      act();
    } catch (refusal) {
      if (refusal instanceof Refusal) return { message: refusal.message, ...refusal.extensions };
    }
    throw new Error('nothing was refused');
  };

  it.each([
    ['nothing was shown', { kind: 'absent' }, 'unauthenticated'],
    ['what was shown is wrong', { kind: 'wrong' }, 'forbidden'],
    [
      'what was shown opens another book',
      { kind: 'proven', agent_id: 1_000, session_hash: '', by: 'session' },
      'forbidden',
    ],
  ] as [string, Possession, string][])('where %s', (_, possession, code) => {
    const principal = { ...desk.context.principal, possession };
    for (const require of [requirePossession, requireHeld]) {
      const refusals = [known.agent_id, other.agent_id, 999_999, 0, -1].map(id =>
        refusalOf(() => require(principal, id)),
      );
      expect(refusals[0]).toMatchObject({ code });
      expect(new Set(refusals.map(refusal => JSON.stringify(refusal))).size).toBe(1);
    }
  });

  it('by the mutation that rotates', async () => {
    const resolver = new PossessionResolver();
    const possession: Possession = {
      kind: 'proven',
      agent_id: known.agent_id as never,
      session_hash: 'ended since',
      by: 'session',
    };
    const context: SessionContext = { ...desk.context, principal: { ...desk.context.principal, possession } };
    const heard = await Promise.all(
      // The first caller has a session that ended after it was looked up.
      [known.agent_id, other.agent_id, 999_999].map(agentId =>
        resolver.rotateSession({ agentId }, context).catch(String),
      ),
    );
    expect(new Set(heard).size).toBe(1);
    expect(await desk.opens(known.session)).toBe(known.agent_id);
  });
});
