/** It starts on being imported, and exports nothing. */
declare module '@portkey-ai/gateway/build/start-server.js';
