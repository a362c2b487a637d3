import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  callKey,
  openRouterKey,
  readCall,
  type SubgraphCall,
  sealRouterKey,
  signCall,
} from '../../../../gateway/graph/remote/call.ts';
import { CallGate } from '../../../../gateway/graph/remote/call-gate.ts';
import { sha256Hex } from '../../../../schema/digest.ts';
import { agentId } from '../../../../schema/ids.ts';
import { limits } from '../../../../schema/limits.ts';
import { nobody } from '../../../../schema/principal.ts';
import { Secret } from '../../../../schema/secret.ts';
import { openVault } from '../../../../subgraphs/vault.ts';

const key = callKey('a secret between processes');
const BODY = Buffer.from('{"query":"{ models { id } }"}');
const NOW_MS = 1_700_000_000_000;

function callOf(members: Partial<SubgraphCall> = {}): SubgraphCall {
  const nonce = randomBytes(16).toString('hex');
  const body_sha256 = sha256Hex(BODY);
  return { subgraph: 'book', principal: nobody, payment: null, at_ms: NOW_MS, nonce, body_sha256, ...members };
}

/** A gate with a clock that the test sets. */
function openGate(calls_max?: number) {
  let now_ms = NOW_MS;
  const clock = { now_ms: () => now_ms };
  const gate = new CallGate({ key, subgraph: 'book', clock, ...(calls_max === undefined ? {} : { calls_max }) });
  return {
    clock: (at_ms: number) => {
      now_ms = at_ms;
    },
    enter(header: string | undefined, body: Uint8Array = BODY): string {
      const judged = gate.judge(header);
      return judged.kind === 'turned_away' ? judged.why : (gate.take(judged.call, body) ?? 'taken');
    },
  };
}

describe('a signed call', () => {
  it('comes back as it was said, whoever calls and whatever is paid', () => {
    const held = {
      kind: fc.constant('proven' as const),
      agent_id: fc.integer({ min: 1, max: 2 ** 31 - 1 }).map(agentId),
      session_hash: fc.string(),
    };
    const principal = fc.record({
      possession: fc.oneof(
        fc.constantFrom({ kind: 'absent' as const }, { kind: 'wrong' as const }),
        fc.record({ ...held, by: fc.constant('session' as const) }),
        fc.record({
          kind: fc.constant('several' as const),
          books: fc.array(fc.record({ agent_id: held.agent_id, session_hash: held.session_hash }), {
            minLength: 1,
            maxLength: limits.sessions_per_caller_max,
          }),
          named: fc.option(held.agent_id),
        }),
        fc.record({
          ...held,
          by: fc.constantFrom('plain_proof' as const, 'bound_proof' as const),
          use: fc.constant(null),
        }),
      ),
      api_key: fc.oneof(
        fc.constantFrom({ kind: 'absent' as const }, { kind: 'unknown' as const }),
        fc.record({
          kind: fc.constantFrom('live' as const, 'demo' as const, 'waiver' as const),
          hash: fc.constant('ab'.repeat(32)),
        }),
      ),
      address: fc.string(),
      slice: fc.constantFrom(
        undefined,
        { kind: 'wrong' as const },
        { kind: 'shown' as const, token_hash: 'cd'.repeat(32) },
      ),
    });
    const payment = fc.option(
      fc.record({
        x402_version: fc.constantFrom(1 as const, 2 as const),
        envelope: fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true }),
      }),
    );
    fc.assert(
      fc.property(principal, payment, (caller, paid) => {
        const call = callOf({ principal: caller, payment: paid });
        expect(readCall(key, signCall(key, call))).toEqual({ kind: 'read', call });
      }),
    );
  });

  it('carries a router key sealed: not to be read in it, and to be opened from no other call', () => {
    const vault = openVault('a secret between processes');
    fc.assert(
      fc.property(fc.stringMatching(/^[!-~]{12,64}$/), value => {
        const to = { subgraph: 'receipt', nonce: '0'.repeat(32) };
        const call = callOf({ ...to, router_key_box: sealRouterKey(vault, new Secret(value), to) });
        const [told = ''] = signCall(key, call).split('.');
        expect(Buffer.from(told, 'base64url').toString()).not.toContain(value);
        expect(openRouterKey(vault, call)?.reveal()).toBe(value);
        for (const other of [{ nonce: '1'.repeat(32) }, { subgraph: 'book' }])
          expect(() => openRouterKey(vault, { ...call, ...other })).toThrow();
        expect(() => openRouterKey(openVault('another secret altogether'), call)).toThrow();
      }),
    );
    expect(openRouterKey(vault, callOf())).toBeNull();
  });

  it('altered in any one character is nothing', () => {
    const header = signCall(key, callOf());
    fc.assert(
      fc.property(fc.nat(header.length - 1), fc.constantFrom('A', 'b', '0', '_', '.'), (at, other) => {
        fc.pre(header[at] !== other);
        const altered = header.slice(0, at) + other + header.slice(at + 1);
        expect(readCall(key, altered).kind).toMatch(/^(forged|unsigned)$/);
      }),
    );
  });

  it('in another form than ours is not read, however well it is signed', () => {
    expect(readCall(key, signCall(key, { ...callOf(), more: 1 } as SubgraphCall))).toEqual({ kind: 'unreadable' });
    expect(readCall(key, signCall(key, callOf({ nonce: '' })))).toEqual({ kind: 'unreadable' });
  });
});

describe('the gate of a subgraph', () => {
  it('takes a call once', () => {
    const gate = openGate();
    const header = signCall(key, callOf());
    expect([gate.enter(header), gate.enter(header), gate.enter(header)]).toEqual(['taken', 'replayed', 'replayed']);
  });

  it.each([
    ['unsigned', undefined],
    ['unsigned', ''],
    ['unsigned', 'e30'],
    ['forged', signCall(callKey('another secret altogether'), callOf())],
    ['other_subgraph', signCall(key, callOf({ subgraph: 'receipt' }))],
    ['stale', signCall(key, callOf({ at_ms: NOW_MS - 1 }))],
    ['stale', signCall(key, callOf({ at_ms: NOW_MS + 30_001 }))],
  ])('turns away what is %s', (why, header) => {
    expect(openGate().enter(header)).toBe(why);
  });

  it('turns away another body than was signed, and still takes the right one after it', () => {
    const gate = openGate();
    const header = signCall(key, callOf());
    expect(gate.enter(header, Buffer.from('{"query":"{ book }"}'))).toBe('other_body');
    expect(gate.enter(header)).toBe('taken');
  });

  it('takes a call within 30 seconds of its time and never twice, however the clock goes on', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 1, maxLength: 30 }), pauses => {
        const gate = openGate();
        const headers: { header: string; at_ms: number; taken: boolean }[] = [];
        let now_ms = NOW_MS;
        for (const pause_ms of pauses) {
          now_ms += pause_ms;
          gate.clock(now_ms);
          headers.push({ header: signCall(key, callOf({ at_ms: now_ms })), at_ms: now_ms, taken: false });
          for (const one of headers) {
            const old = now_ms - one.at_ms > 30_000;
            expect(gate.enter(one.header)).toBe(old ? 'stale' : one.taken ? 'replayed' : 'taken');
            one.taken = true;
          }
        }
      }),
      { numRuns: 50 },
    );
  });

  it('takes none that it cannot remember, and goes on when the old ones are forgotten', () => {
    const gate = openGate(2);
    const enter = (at_ms: number) => gate.enter(signCall(key, callOf({ at_ms })));
    expect([enter(NOW_MS), enter(NOW_MS), enter(NOW_MS)]).toEqual(['taken', 'taken', 'full']);
    gate.clock(NOW_MS + 60_001);
    expect(enter(NOW_MS + 60_001)).toBe('taken');
  });
});
