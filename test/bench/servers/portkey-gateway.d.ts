/** The module starts the gateway when it is imported, and exports nothing. */
declare module '@portkey-ai/gateway/build/start-server.js';
