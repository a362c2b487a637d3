import { describe, expect, it } from 'vitest';
import { simulatedNetworks } from '../../gateway/config/substitutes.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { inBrowserForm, isPaid } from '../../rest-compat/offer-page.ts';
import type { NetworkName } from '../../schema/network.ts';

const chat = everyDoor.filter(isPaid).find(({ path }) => path === '/v1/chat/completions');
const offer = { status: 402, headers: {}, body: JSON.stringify({ accepts: [{ network: 'base' }] }) };

function pageWith(simulated_networks: readonly NetworkName[]): string {
  if (!chat) throw new Error('the chat is not paid');
  const request = { method: 'GET', headers: { accept: 'text/html' } };
  return String(inBrowserForm(chat, request, offer, { base_url: 'http://127.0.0.1', simulated_networks }).body);
}

describe('the page at a paid URL', () => {
  it('warns where a chain is a stand-in, because what a wallet signs there is valid on the real chain', () => {
    expect(pageWith(['base'])).toContain('stand-in for Base: no real money moves. Do not pay with a wallet');
    expect(pageWith(['base', 'solana'])).toContain('stand-in for Base and Solana');
  });

  it('has no warning where each chain is real', () => {
    expect(pageWith([])).not.toContain('simulated');
  });
});

describe('the networks with a stand-in', () => {
  it.each([
    [
      ['BASE_RPC_URL', 'SOLANA_RPC_URL', 'HUBS'],
      ['base', 'solana'],
    ],
    [['SOLANA_RPC_URL'], ['solana']],
    [['PAY_TO_BASE', 'DATABASE_URL'], []],
  ] as const)('%j: %j', (stand_ins, networks) => {
    expect(simulatedNetworks(stand_ins)).toEqual(networks);
  });
});
