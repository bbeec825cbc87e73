/** Of the instance that a test starts, apart from it for tests that start none. */
export const BASE_URL = 'https://instance.example';
