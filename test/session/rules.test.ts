import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openKeyring } from '../../gateway/principal.ts';
import { agentId } from '../../schema/ids.ts';
import { bookProof, proofMatches, proofWindow } from '../../subgraphs/session/possession/proof.ts';
import { judgeRecovery } from '../../subgraphs/session/registration/recover.ts';

describe('a book proof', () => {
  const session = fc
    .uint8Array({ minLength: 32, maxLength: 32 })
    .map(bytes => `svcs_${Buffer.from(bytes).toString('base64url')}`);
  const agent = fc.integer({ min: 1, max: 2 ** 31 - 1 });
  const now_ms = fc.integer({ min: 0, max: 4_000_000_000_000 });

  test('passes in its own window and the next one, and in no other', () => {
    fc.assert(
      fc.property(session, agent, now_ms, fc.integer({ min: -3, max: 3 }), (key, id, now, windows) => {
        const proof = bookProof(key, id, proofWindow(now) - windows);
        expect(proofMatches(proof, key, id, now)).toBe(windows === 0 || windows === 1);
      }),
    );
  });

  test('opens neither another book nor with another session', () => {
    fc.assert(
      fc.property(session, session, agent, agent, now_ms, (one, two, a, b, now) => {
        fc.pre(one !== two && a !== b);
        const proof = bookProof(one, a, proofWindow(now));
        expect(proofMatches(proof, two, a, now)).toBe(false);
        expect(proofMatches(proof, one, b, now)).toBe(false);
      }),
    );
  });

  test('is HMAC-SHA256 in hex behind sha256=', () => {
    // Reference value: printf '42.5966666' | openssl dgst -sha256 -hmac svcs_example
    expect(bookProof('svcs_example', 42, 5_966_666)).toBe(
      'sha256=110e0daec6f959644c46ff3ee83849a335f3182ddd2db0c72f1d7197ff1e8d88',
    );
    fc.assert(
      fc.property(fc.string(), text => {
        expect(proofMatches(text, 'svcs_example', 42, 0)).toBe(false);
      }),
    );
  });
});

describe('recovering a registration', () => {
  const one = { agent_id: agentId(1), wallet: '0xA', task_id: 'task_1', validate_score: null };
  const two = { agent_id: agentId(2), wallet: '0xB', task_id: 'task_2', validate_score: null };

  test.each([
    ['same wallet, same task', [one], '0xA', 'task_1', 'same'],
    ['same wallet, another task', [one], '0xA', 'task_9', 'other_task'],
    ['the task of another wallet', [one], '0xC', 'task_1', 'other_payer'],
    ['a registered wallet with the task of another', [one, two], '0xB', 'task_1', 'other_payer'],
    ['neither is known', [], '0xC', 'task_9', 'unregistered'],
  ])('%s', (_, found, wallet, task_id, kind) => {
    expect(judgeRecovery(found, wallet, task_id).kind).toBe(kind);
  });
});

describe('an API key', () => {
  const keyring = openKeyring({ live: ['live-1', 'both'], demo: ['demo-1', 'both'], waiver: ['waiver-1'] });

  test.each([
    ['live-1', 'live'],
    ['demo-1', 'demo'],
    ['waiver-1', 'waiver'],
    ['both', 'live'],
    ['', 'unknown'],
    ['live-', 'unknown'],
  ])('%s is %s', (key, kind) => {
    expect(keyring(key).kind).toBe(kind);
  });

  test('none is absent, and a known one is named by its hash', () => {
    expect(keyring(null)).toEqual({ kind: 'absent' });
    expect(keyring('live-1')).toEqual({ kind: 'live', hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });
});
