import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ConfigFault } from '../../../gateway/config/fault.ts';
import { readConfig } from '../../../gateway/config/read-config.ts';

const FACILITATOR_URL = 'https://facilitator.example';

/** What is wrong: one for each variable. */
function linesOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error;
    return error.faults.map(({ variable, problem }) => `${variable}: ${problem}`);
  }
}

describe('FACILITATOR_AUTH', () => {
  it.each([
    ['a-token-by-itself', 'a-token'],
    ['bearer:', 'bearer: '],
    ['bearer:two words', 'two words'],
    ['basic:dXNlcjpwYXNz', 'dXNlc'],
    ['cdp:a-key-id', 'a-key-id'],
    ['cdp:a-key-id:', 'a-key-id'],
    ['cdp:a-key-id:c2hvcnQ=', 'c2hvcnQ'],
    [`cdp:a-key-id:${Buffer.alloc(64, 7).toString('base64')}`, 'BwcH'],
    ['cdp:a-key-id:-----BEGIN EC PRIVATE KEY-----\\nAAAA\\n-----END EC PRIVATE KEY-----', 'AAAA'],
  ])('that is none is refused in one line, which names it and does not show it: %s', (FACILITATOR_AUTH, secret) => {
    const lines = linesOf({ FACILITATOR_URL, FACILITATOR_AUTH });
    expect(lines).toEqual([expect.stringMatching(/^FACILITATOR_AUTH: (not bearer|the secret is not a CDP key)/)]);
    expect(lines.join()).not.toContain(secret);
  });

  it('of which nothing is shown once it is read', () => {
    const { facilitator_auth } = readConfig({ FACILITATOR_URL, FACILITATOR_AUTH: 'bearer:a-token-of-ours' });
    expect(facilitator_auth).toMatchObject({ kind: 'bearer' });
    expect(JSON.stringify(facilitator_auth) + inspect(facilitator_auth)).not.toContain('a-token-of-ours');
  });

  it('that nobody would be shown is refused', () => {
    expect(linesOf({ FACILITATOR_AUTH: 'bearer:a-token-of-ours' })).toEqual([
      'FACILITATOR_AUTH: set without FACILITATOR_URL, so it is sent to no facilitator; set both or neither',
    ]);
  });
});
