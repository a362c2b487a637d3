import { describe, expect, it } from 'vitest';
import { agentId } from '../../../../schema/ids.ts';
import { type ApiKey, nobody, type Possession } from '../../../../schema/principal.ts';
import { isVendorBlind } from '../../../../subgraphs/receipt/inference/vendor-blind.ts';

const proven: Possession = { kind: 'proven', agent_id: agentId(7), session_hash: 'a'.repeat(64), by: 'session' };
const key = (kind: 'live' | 'demo' | 'waiver'): ApiKey => ({ kind, hash: 'b'.repeat(64) });

describe('vendor_blind', () => {
  it.each<[string, boolean, Possession, ApiKey, boolean]>([
    ['a session', true, proven, { kind: 'absent' }, false],
    ['a session, and a key that nobody knows', true, proven, { kind: 'unknown' }, false],
    ['a session and a live key', true, proven, key('live'), false],
    ['a session and a demo key', false, proven, key('demo'), false],
    ['a session, where the router is asked', false, proven, { kind: 'absent' }, true],
    ['a wrong session', false, { kind: 'wrong' }, { kind: 'absent' }, false],
    ['no session', false, { kind: 'absent' }, { kind: 'absent' }, false],
    ['a live key alone', false, { kind: 'absent' }, key('live'), false],
  ])('with %s: %s', (_, promised, possession, api_key, routed) => {
    expect(isVendorBlind({ principal: { ...nobody, possession, api_key }, payment: null }, routed)).toBe(promised);
  });

  it('with a session and a demo key beside a payment: true, as the key counts for nothing there', () => {
    const principal = { ...nobody, possession: proven, api_key: key('demo') };
    expect(isVendorBlind({ principal, payment: { x402_version: 2, envelope: {} } }, false)).toBe(true);
  });
});
