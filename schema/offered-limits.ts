/* Of a request that waits for its payment inside of its own id: whoever asks for more pays with the first message. */
export const offeredLimits = { request_bytes_max: 32 * 1024, request_seconds_max: 3_600 } as const;
