/* The two secrets that the board shares with somebody: of whoever operates it, and of whoever reports completions to it. */

export type BoardSecret = 'ops' | 'inbound';

/** What came along in the place of each, as its SHA-256 in hex; left out where nothing did. */
export type ShownBoardSecrets = { readonly [secret in BoardSecret]?: string };

/** What each that came along turned out to be. It opens the doors of that secret, and stands in for nothing else. */
export type BoardStanding = { readonly [secret in BoardSecret]?: 'held' | 'wrong' };
