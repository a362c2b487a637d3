/* The two secrets that the board shares: with its operators, and with services that report completions to it. */

export type BoardSecret = 'ops' | 'inbound';

/** The secrets that came with a request, each as its SHA-256 in hex; absent if it did not come. */
export type ShownBoardSecrets = { readonly [secret in BoardSecret]?: string };

/** Result of the check of each secret that was sent. It opens the endpoints of that secret only. */
export type BoardStanding = { readonly [secret in BoardSecret]?: 'held' | 'wrong' };
