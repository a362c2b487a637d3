import { createOpenAI } from '@ai-sdk/openai';
import { streamText } from 'ai';
import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { payingFetch } from '../../../rest-compat/client/paying-fetch.ts';
import { officialClient, type Wallet } from '../../harness/buyer.ts';
import {
  API_KEY,
  type HabitBuyer,
  messages,
  openStandIn,
  prompt,
  type StandIn,
} from '../../harness/habits/stand-in.ts';

/* Streams that break off, below our own fetch: it keeps the payment that brings the work again, and the next try shows it. */

let standIn: StandIn;
beforeAll(async () => {
  standIn = await openStandIn();
});
const newBuyer = () => standIn.newBuyer((payer: Wallet) => payingFetch({ payments: officialClient(payer) }));

async function streamed({ reached: { baseURL, fetch: by } }: HabitBuyer, model: string): Promise<string> {
  const client = new OpenAI({ baseURL, apiKey: API_KEY, maxRetries: 0, fetch: by });
  let text = '';
  for await (const { choices } of await client.chat.completions.create({ model, messages, stream: true }))
    text += choices[0]?.delta.content ?? '';
  return text;
}

describe('the official openai client', () => {
  it('has the whole answer by its next try, of one payment', async () => {
    const buyer = await newBuyer();
    await expect(streamed(buyer, 'dev/cuts-off-once')).rejects.toMatchObject({ code: 'hub_broke_off' });
    expect(await streamed(buyer, 'dev/cuts-off-once')).toContain(prompt);
    expect(await buyer.paid()).toBe(1);
    expect(await streamed(buyer, 'dev/cuts-off-once')).toContain(prompt);
    expect(await buyer.paid()).toBe(2);
  });

  it('pays anew once the payment brings the work no more', async () => {
    const buyer = await newBuyer();
    const left: string[] = [];
    for (let tries = 0; tries < 5; tries++)
      await streamed(buyer, 'dev/cuts-off').catch(({ message }: Error) =>
        left.push(/(\d) of them/.exec(message)?.[1] ?? '0'),
      );
    expect(left).toEqual(['3', '2', '1', '0', '3']);
    expect(await buyer.paid()).toBe(2);
  });
});

it('the AI SDK, which tries an error before its first piece again by itself, pays once', async () => {
  const buyer = await newBuyer();
  const { baseURL, fetch: by } = buyer.reached;
  const model = createOpenAI({ baseURL, apiKey: API_KEY, fetch: by }).chat('dev/thinks-and-stops');
  let fault: unknown;
  const onError = ({ error }: { readonly error: unknown }) => {
    fault = error;
  };
  const stream = streamText({ model, prompt, maxRetries: 1, onError });
  await stream.consumeStream();
  expect(fault).toMatchObject({ name: 'AI_RetryError', errors: [{}, {}] });
  expect(await buyer.paid()).toBe(1);
});
