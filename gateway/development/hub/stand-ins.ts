import { randomBytes } from 'node:crypto';
import type { CompleteConfig, Config, HubConfig } from '../../config/read-config.ts';
import { startDevelopmentHub } from './start.ts';

/** Both serve `dev/small`, so that failover from one hub to the other can be seen. */
const hubs = [
  { name: 'alpha', models: ['dev/small', 'dev/alpha-large'] },
  { name: 'beta', models: ['dev/small', 'dev/beta-large'] },
] as const;

const draws = { image_models: ['dev/image'], audio_models: ['dev/transcribe'] };
/** What the router's own ids are: with `router/` before them a call may name them. */
const routed = { models: ['dev/routed'], image_models: [], audio_models: [] };

export function startHubs(started: AsyncDisposableStack): Promise<HubConfig[]> {
  const api_key = `dev-${randomBytes(12).toString('hex')}`;
  return Promise.all(
    hubs.map(async ({ name, models }) => {
      const abilities = { vision_models: [...models], reasoning_models: [] };
      const settings = { name, api_key, models: [...models], ...draws, ...abilities };
      const { base_url, close } = await startDevelopmentHub(settings);
      started.defer(close);
      return { ...settings, base_url };
    }),
  );
}

/** The router as it is configured, a stand-in that takes anybody's key, or none. */
export async function routerOf(complete: CompleteConfig, started: AsyncDisposableStack): Promise<Config['router']> {
  const { router_url, router_models: models, stand_ins } = complete;
  if (router_url !== null) return { base_url: router_url, models };
  if (!stand_ins.includes('ROUTER_URL')) return null;
  const { base_url, close } = await startDevelopmentHub({ name: 'router', api_key: null, ...routed });
  started.defer(close);
  return { base_url, models };
}
