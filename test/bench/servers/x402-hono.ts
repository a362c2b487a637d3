import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { type FacilitatorClient, HTTPFacilitatorClient } from '@x402/core/server';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { paymentMiddleware, x402ResourceServer } from '@x402/hono';
import { Hono } from 'hono';
import { networks } from '../../../schema/network.ts';
import { serveTasks, startOptions } from '../child/answer.ts';
import { trustingFacilitator, verifyingFacilitator } from '../facilitators.ts';
import { completion } from '../stand-still.ts';

export interface X402Given {
  readonly pay_to: string;
  /**
   * `believing`: a facilitator in this process that accepts everything. `verifying`: the official one on a chain where every payment has
   * already succeeded. With a URL it is called over HTTP.
   */
  readonly facilitator: 'believing' | 'verifying' | { readonly url: string };
}

export interface X402Ready {
  readonly url: string;
}

/** The unmodified middleware of @x402/hono in front of the same answer. It stores nothing. */
const { pay_to, facilitator } = startOptions<X402Given>();
const { caip2: network, usdc: asset, usdc_domain } = networks.base;
const inProcess = { believing: trustingFacilitator, verifying: verifyingFacilitator };
const client: FacilitatorClient =
  typeof facilitator === 'string' ? inProcess[facilitator]() : new HTTPFacilitatorClient(facilitator);
const price = { amount: '2000', asset, extra: { ...usdc_domain } };
const accepts = { scheme: 'exact', network, payTo: pay_to, price, maxTimeoutSeconds: 300 } as const;

const app = new Hono();
app.use(
  paymentMiddleware(
    { 'POST /v1/chat/completions': { accepts, description: 'One chat completion', mimeType: 'application/json' } },
    new x402ResourceServer(client).register(network, new ExactEvmScheme()),
  ),
);
app.post('/v1/chat/completions', async context => {
  const { model } = await context.req.json<{ model: string }>();
  const created = Math.floor(Date.now() / 1000);
  return context.json({ id: 'chatcmpl-bench', object: 'chat.completion', created, model, ...completion });
});

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 });
if (!server.listening) await new Promise(resolve => server.once('listening', resolve));
const ready: X402Ready = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
serveTasks(ready, {}, () => server.close());
