import { describe, expect, it } from 'vitest';
import { openKeyring } from '../../../gateway/graph/identify.ts';
import { agentId } from '../../../schema/ids.ts';
import { judgeRecovery } from '../../../subgraphs/session/registration/recover.ts';

describe('recovering a registration', () => {
  const one = { agent_id: agentId(1), wallet: '0xA', task_id: 'task_1', validate_score: null };
  const two = { agent_id: agentId(2), wallet: '0xB', task_id: 'task_2', validate_score: null };

  it.each([
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

  it.each([
    ['live-1', 'live'],
    ['demo-1', 'demo'],
    ['waiver-1', 'waiver'],
    ['both', 'live'],
    ['', 'unknown'],
    ['live-', 'unknown'],
  ])('%s is %s', (key, kind) => {
    expect(keyring(key).kind).toBe(kind);
  });

  it('none is absent, and a known one is named by its hash', () => {
    expect(keyring(null)).toEqual({ kind: 'absent' });
    expect(keyring('live-1')).toEqual({ kind: 'live', hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });
});
