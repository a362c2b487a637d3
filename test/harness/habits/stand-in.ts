import { habitModels as models } from '../../../gateway/development/hub/habits.ts';
import { startDevelopmentHub } from '../../../gateway/development/hub/start.ts';
import { type Fetch, payingFetch, type Wallet } from '../buyer.ts';
import { openService } from '../doors/open-service.ts';
import { atEnd } from '../release.ts';
import type { ApiAddress } from './outcome.ts';

export const API_KEY = 'sk-development-4f1b7c';
export const prompt = 'Which is greater, 9.11 or 9.8?';
export const messages = [{ role: 'user' as const, content: prompt }];

/** A client's connection to the service, with a `fetch` that pays. */
export interface HabitBuyer {
  readonly reached: ApiAddress;
  /** Number of its payments so far. */
  paid(): Promise<number>;
}

export type StandIn = Awaited<ReturnType<typeof openStandIn>>;

/** A development hub with all of its habits, and a service that uses it. */
export async function openStandIn() {
  const hub = await startDevelopmentHub({ name: 'alpha', models, api_key: API_KEY });
  atEnd(hub.close);
  const settings = { name: 'alpha', base_url: hub.base_url, api_key: API_KEY, models };
  const service = await openService({ HUBS: JSON.stringify([settings]), RATE_UNCHARGED: '1000/600' });
  const straight: ApiAddress = { baseURL: hub.base_url, fetch };
  return {
    straight,
    /** A buyer with a new wallet. By default x402's own fetch signs a new payment for each request. */
    async newBuyer(paying: (payer: Wallet) => Fetch = payingFetch): Promise<HabitBuyer> {
      const payer = await service.chain.newWallet();
      return {
        reached: { baseURL: `${service.url}/v1`, fetch: paying(payer) },
        paid: async () => (await service.transfersFrom(payer)).length,
      };
    },
  };
}
