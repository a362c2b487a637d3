import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../../schema/errors.ts';
import { requireConsent } from '../../../../subgraphs/book/webhook/set.ts';

const url = 'https://hooks.invalid/in';
const approvalWebhook = { url, events: ['approval'] } as const;
const consentFault = (...asked: Parameters<typeof requireConsent>) => {
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
    expect(consentFault(null, approvalWebhook, said)).toBe(outcome);
    expect(consentFault({ ...approvalWebhook, url: `${url}/other` }, approvalWebhook, said)).toBe(outcome);
    expect(consentFault({ ...approvalWebhook, events: ['settle'] }, approvalWebhook, said)).toBe(outcome);
    // No proof is needed if the URL stays the same or gets no approvals. An unreachable chain then does no harm.
    expect(consentFault(approvalWebhook, approvalWebhook, said)).toBe('set');
    expect(consentFault(approvalWebhook, { url: `${url}/other`, events: ['settle'] }, said)).toBe('set');
  });

  it('none is missing', () => {
    expect(consentFault(null, approvalWebhook, null)).toBe('control_proof_missing');
    expect(consentFault(null, { ...approvalWebhook, events: ['alert'] }, null)).toBe('set');
  });
});
