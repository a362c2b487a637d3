import { namedServices } from '../config/named-services.ts';
import { type Config, completeConfig, type Settings } from '../config/read-config.ts';

/** What a program stands on: a configuration in which every service has its place. */
export interface FoundServices {
  readonly config: Config;
  /** Ends what was started for this process. */
  stop(): Promise<void>;
}

interface FindOptions {
  /** Whether newcomers are told to pay here, where the services are stand-ins. */
  readonly announce?: boolean;
}

/**
 * Production takes the services as they are named, and nothing of `development/` is so much as loaded: its packages need not
 * be installed. Elsewhere each that is not named gets a stand-in.
 */
export async function findServices(settings: Settings, options: FindOptions = {}): Promise<FoundServices> {
  const named = settings.profile === 'production' ? namedServices(await completeConfig(settings)) : null;
  if (named) return { config: named, stop: async () => {} };
  const { startDevelopment } = await import('../development/start.ts');
  return startDevelopment(settings, options);
}
