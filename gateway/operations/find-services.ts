import { type Config, completeConfig, deepFreeze, namedServices, type Settings } from '../config/read-config.ts';

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
  if (settings.profile === 'production') {
    const named = namedServices(await completeConfig(settings));
    // What is missing has been told by name when the settings were read.
    if (!named) throw new Error('production was to start without all of its services');
    return { config: deepFreeze(named), stop: async () => {} };
  }
  const { startDevelopment } = await import('../development/start.ts');
  return startDevelopment(settings, options);
}
