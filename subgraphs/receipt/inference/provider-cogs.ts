import type { ProviderCogs } from '../../../schema/receipt-shapes.ts';
import type { Candidate, HubSettings } from './catalogue.ts';
import type { Usage } from './hubs/chat.ts';

const PER = 1_000_000n;

/**
 * Cost of a call at its hub in atomic USDC, by the configured prices: `actual` by the hub's token counts, `usd_mark` by the price of a
 * call. If only one is known, it is used for both. Null if neither is known.
 */
export function providerCogs(
  settings: readonly HubSettings[],
  { hub, model }: Candidate,
  usage: Usage | null,
): ProviderCogs | null {
  const { prices, token_prices } = settings.find(({ name }) => name === hub) ?? {};
  const by_tokens = usage && token_prices?.[model] ? costOf(usage, token_prices[model]) : null;
  const by_call = prices?.[model] ?? null;
  const actual = by_tokens ?? by_call;
  return actual === null ? null : { actual, usd_mark: by_call ?? actual };
}

/** Cost in atomic USDC, rounded up to a whole unit. Null if the hub's counts are so high that the cost is not a safe integer. */
function costOf({ prompt_tokens, completion_tokens }: Usage, { input, output }: TokenPrice): number | null {
  const cost = (BigInt(prompt_tokens) * BigInt(input) + BigInt(completion_tokens) * BigInt(output) + PER - 1n) / PER;
  return cost <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(cost) : null;
}

type TokenPrice = NonNullable<HubSettings['token_prices']>[string];
