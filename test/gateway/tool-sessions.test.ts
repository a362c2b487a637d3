import { expect, it } from 'vitest';
import { openToolSessions } from '../../gateway/http/sealed-ids.ts';
import { systemRandom } from '../../subgraphs/clock.ts';
import { openVault } from '../../subgraphs/vault.ts';

const DAY_MS = 86_400_000;
let now_ms = Date.UTC(2026, 10, 27);
const processOf = (secret: string) =>
  openToolSessions({ vault: openVault(secret), clock: { now_ms: () => now_ms }, random: systemRandom });

it('a session stands at every process that has the key, and at no other', () => {
  const id = processOf('a key').begin();
  expect(id).toMatch(/^[!-~]+$/);
  expect(processOf('a key').isValid(id)).toBe(true);
  expect(processOf('another key').isValid(id)).toBe(false);
});

it('each is one of its own', () => {
  const sessions = processOf('a key');
  expect(new Set(Array.from({ length: 100 }, () => sessions.begin())).size).toBe(100);
});

it('it lapses a day after its handshake', () => {
  const sessions = processOf('a key');
  const id = sessions.begin();
  now_ms += DAY_MS - 1_000;
  expect(sessions.isValid(id)).toBe(true);
  now_ms += 1_000;
  expect(sessions.isValid(id)).toBe(false);
});

it('nothing stands that was not given: altered, made longer, cut or made up', () => {
  const sessions = processOf('a key');
  const id = sessions.begin();
  const [random = '', lapses = '', mark = ''] = id.split('.');
  const longer = `${random}.${Number(lapses) + 1}.${mark}`;
  const other = `${sessions.begin().split('.')[0]}.${lapses}.${mark}`;
  for (const made of [longer, other, `${random}.${lapses}`, `${id} `, `${id}.x`, '', 'made-up'])
    expect(sessions.isValid(made), made).toBe(false);
});
