import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import type { FacilitatorClient } from '@x402/core/server';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { paymentMiddleware, x402ResourceServer } from '@x402/hono';
import { Hono } from 'hono';
import { networks } from '../../../schema/network.ts';
import { answer, given } from '../child/answer.ts';
import { believingFacilitator, verifyingFacilitator } from '../facilitators.ts';

export interface X402Given {
  readonly hub_url: string;
  readonly pay_to: string;
  /** `believing` says yes to all; `verifying` is the official one, on a chain on which all has happened already. */
  readonly facilitator: 'believing' | 'verifying';
}

export interface X402Ready {
  readonly url: string;
}

/** The stock middleware before the same hub. Nothing is kept. */
const { hub_url, pay_to, facilitator } = given<X402Given>();
const { caip2: network, usdc: asset, usdc_domain } = networks.base;
const facilitators: Record<X402Given['facilitator'], () => FacilitatorClient> = {
  believing: believingFacilitator,
  verifying: verifyingFacilitator,
};
const price = { amount: '2000', asset, extra: { ...usdc_domain } };
const accepts = { scheme: 'exact', network, payTo: pay_to, price, maxTimeoutSeconds: 300 } as const;

const app = new Hono();
app.use(
  paymentMiddleware(
    { 'POST /v1/chat/completions': { accepts, description: 'One chat completion', mimeType: 'application/json' } },
    new x402ResourceServer(facilitators[facilitator]()).register(network, new ExactEvmScheme()),
  ),
);
app.post('/v1/chat/completions', async context => {
  const body = JSON.stringify(await context.req.json());
  const headers = { 'content-type': 'application/json' };
  const answered = await fetch(`${hub_url}/chat/completions`, { method: 'POST', headers, body });
  return context.json(await answered.json());
});

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 });
if (!server.listening) await new Promise(resolve => server.once('listening', resolve));
const ready: X402Ready = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
answer(ready, {}, () => server.close());
