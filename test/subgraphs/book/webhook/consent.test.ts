import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../../schema/errors.ts';
import { requireConsent } from '../../../../subgraphs/book/webhook/set.ts';

const url = 'https://hooks.invalid/in';
const told = { url, events: ['approval'] } as const;
const heard = (...asked: Parameters<typeof requireConsent>) => {
  try {
    requireConsent(...asked);
    return 'set';
  } catch (error) {
    return (error as Refusal).code;
  }
};

describe('where approvals are told to another URL than before', () => {
  it.each([
    ['proven', 'set'],
    ['stale', 'control_proof_invalid'],
    ['invalid', 'control_proof_invalid'],
    ['unreachable', 'chain_unavailable'],
    ['no_turn', 'unavailable'],
  ] as const)('a wallet’s word that is %s: %s', (kind, outcome) => {
    const said = kind === 'proven' ? { kind, wallet: '0x' } : { kind };
    expect(heard(null, told, said)).toBe(outcome);
    expect(heard({ ...told, url: `${url}/other` }, told, said)).toBe(outcome);
    expect(heard({ ...told, events: ['settle'] }, told, said)).toBe(outcome);
    // Nothing of it is asked where that stands, or approvals are told to nobody: a chain that is away keeps nobody from it.
    expect(heard(told, told, said)).toBe('set');
    expect(heard(told, { url: `${url}/other`, events: ['settle'] }, said)).toBe('set');
  });

  it('none is missing', () => {
    expect(heard(null, told, null)).toBe('control_proof_missing');
    expect(heard(null, { ...told, events: ['alert'] }, null)).toBe('set');
  });
});
