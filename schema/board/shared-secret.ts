/* The two secrets that the board shares: with its operators, and with services that report completions to it. */

export type BoardSecret = 'ops' | 'inbound';

/** What came along in the place of each, as its SHA-256 in hex; left out where nothing did. */
export type ShownBoardSecrets = { readonly [secret in BoardSecret]?: string };

/** Result of the check of each secret that was sent. It opens the endpoints of that secret only. */
export type BoardStanding = { readonly [secret in BoardSecret]?: 'held' | 'wrong' };
